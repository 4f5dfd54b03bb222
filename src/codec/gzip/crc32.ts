/**
 * The checksum of gzip (RFC 1952, section 8) of bytes whose parts are known by their own checksums and lengths: nobody has
 * to have the bytes at hand. Checksums are polynomials over GF(2), the highest power in the lowest bit; appending n bytes
 * multiplies what was before by x to the power of 8n, modulo the polynomial.
 *
 *   crc('ab') = appendCrc(crc('a'), crc('b'), crcShift(1))
 */
const POLYNOMIAL = 0xedb88320;
const ONE = 0x80000000;
const X = 0x40000000;

function multiply(a: number, b: number): number {
  let product = 0;
  let factor = b;
  for (let bits = a | 0; bits !== 0; bits <<= 1) {
    if (bits < 0) product ^= factor;
    factor = (factor & 1) === 0 ? factor >>> 1 : (factor >>> 1) ^ POLYNOMIAL;
  }
  return product >>> 0;
}

/** What so many bytes do to the checksum of what was before them, for {@link appendCrc}. */
export function crcShift(sizeBytes: number): number {
  let shift = ONE;
  let power = X;
  for (let bits = sizeBytes * 8; bits > 0; bits = Math.floor(bits / 2)) {
    if (bits % 2 === 1) shift = multiply(power, shift);
    power = multiply(power, power);
  }
  return shift;
}

export const appendCrc = (crc: number, next: number, shift: number): number =>
  (multiply(shift, crc) ^ next) >>> 0;
