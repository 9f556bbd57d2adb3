// pi has no setting for the base URL of a provider; an extension has.
export default (pi) => pi.registerProvider('anthropic', { baseUrl: process.env.ANTHROPIC_BASE_URL });
