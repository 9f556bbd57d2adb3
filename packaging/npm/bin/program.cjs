// Where the program for this platform is.
"use strict";

const platform = `${process.platform}-${process.arch}`;
const name = process.platform === "win32" ? "threadspec.exe" : "threadspec";

/** The path of the program: `THREADSPEC` if it is set, else the one of the package for this platform. Throws if there is none. */
exports.programPath = () => {
  if (process.env.THREADSPEC) return process.env.THREADSPEC;
  try {
    return require.resolve(`@threadspec/${platform}/bin/${name}`);
  } catch {
    throw new Error(`there is no program for ${platform}, or npm left out optional dependencies; \`cargo install threadspec-conformance\` builds one`);
  }
};
