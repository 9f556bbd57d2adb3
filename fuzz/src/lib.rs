//! What all fuzz targets share.

use std::ffi::{CStr, c_char, c_int};

/// Options of libFuzzer, each where the command line does not say otherwise.
///
/// Without weights by how rare an input's features are, bugs planted in the document were found in fewer executions and in less time. With
/// edges alone (`-use_counters=0`) a second has half as many executions more, but a bug that needs several events took five times as many.
///
/// Leaks are not looked for: the server of a target still holds memory when an input ends, so that the search would run for nearly each of
/// them, and code without `unsafe` hardly leaks.
const OPTIONS: [&CStr; 2] = [c"-entropic=0", c"-detect_leaks=0"];

unsafe extern "C" {
    fn LLVMFuzzerTestOneInput(bytes: *const u8, size: usize) -> c_int;
    fn LLVMFuzzerRunDriver(
        count: *mut c_int,
        arguments: *mut *mut *mut c_char,
        test: unsafe extern "C" fn(*const u8, usize) -> c_int,
    ) -> c_int;
}

/// Runs libFuzzer with the arguments of the program behind [`OPTIONS`], since the last one counts.
///
/// # Safety
/// `arguments` must be what the program's `main` was given.
pub unsafe fn run(count: c_int, arguments: *mut *mut c_char) -> c_int {
    let given = (0..usize::try_from(count).unwrap_or(0)).map(|at| {
        // SAFETY: there are `count` of them.
        unsafe { *arguments.add(at) }
    });
    let mut all: Vec<*mut c_char> = given.collect();
    all.splice(1.min(all.len())..1.min(all.len()), OPTIONS.map(|option| option.as_ptr().cast_mut()));
    let mut count = c_int::try_from(all.len()).unwrap_or(c_int::MAX);
    all.push(std::ptr::null_mut());
    // SAFETY: a list that ends as that of `main` does, which libFuzzer only reads.
    unsafe { LLVMFuzzerRunDriver(&raw mut count, &mut all.as_mut_ptr(), LLVMFuzzerTestOneInput) }
}

/// Says how libFuzzer and AddressSanitizer run, where nobody says otherwise: libFuzzer with [`OPTIONS`], the sanitizer without memory of
/// what was freed, which a library without `unsafe` code does not need. `ASAN_OPTIONS` in the environment still decides.
///
/// Also has the functions that `build.rs` puts in the place of libFuzzer's own.
#[macro_export]
macro_rules! quick_defaults {
    () => {
        // SAFETY: the sanitizer looks for a function with this name and this type.
        #[unsafe(no_mangle)]
        extern "C" fn __asan_default_options() -> *const std::ffi::c_char {
            c"malloc_context_size=0:detect_stack_use_after_return=0:quarantine_size_mb=0:thread_local_quarantine_size_kb=0:max_redzone=16"
                .as_ptr()
        }

        $crate::nothing_at_comparisons! {
            __wrap___sanitizer_cov_trace_cmp1(u8, u8),
            __wrap___sanitizer_cov_trace_cmp2(u16, u16),
            __wrap___sanitizer_cov_trace_cmp4(u32, u32),
            __wrap___sanitizer_cov_trace_cmp8(u64, u64),
            __wrap___sanitizer_cov_trace_const_cmp1(u8, u8),
            __wrap___sanitizer_cov_trace_const_cmp2(u16, u16),
            __wrap___sanitizer_cov_trace_const_cmp4(u32, u32),
            __wrap___sanitizer_cov_trace_const_cmp8(u64, u64),
            __wrap___sanitizer_cov_trace_switch(u64, *const u64),
        }

        // SAFETY: the one `main` of the program. libFuzzer's is linked only where there is none.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn main(count: std::ffi::c_int, arguments: *mut *mut std::ffi::c_char) -> std::ffi::c_int {
            // SAFETY: the arguments of `main`.
            unsafe { $crate::run(count, arguments) }
        }
    };
}

/// Functions that do nothing.
#[macro_export]
macro_rules! nothing_at_comparisons {
    ($($name:ident($one:ty, $other:ty),)*) => {
        $(
            // SAFETY: no other function has this name; the linker calls it in the place of libFuzzer's.
            #[unsafe(no_mangle)]
            extern "C" fn $name(_: $one, _: $other) {}
        )*
    };
}
