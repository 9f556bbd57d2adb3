//! What all fuzz targets share.

/// Says how AddressSanitizer runs: with the short memory that a library without `unsafe` code needs, which takes a third less time.
/// `ASAN_OPTIONS` in the environment still decides.
#[macro_export]
macro_rules! quick_sanitizer {
    () => {
        // SAFETY: the sanitizer looks for a function with this name and this type.
        #[unsafe(no_mangle)]
        extern "C" fn __asan_default_options() -> *const std::ffi::c_char {
            c"malloc_context_size=1:detect_stack_use_after_return=0:quarantine_size_mb=8".as_ptr()
        }
    };
}
