// Cases of the corpus that the package does not read: there is no lzma in Rust that is fast and maintained.
export const known = ["v2.comp.lzma-f1-c-1-pNone.s1.zp31", "v3.numcodecs.lzma.s1.zp31"];
