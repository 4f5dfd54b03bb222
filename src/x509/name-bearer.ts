import { contextTag, TAG } from './der.ts';

const CERTIFICATE_SIGNATURE = der(TAG.sequence, der(TAG.oid, Buffer.from('2a8648ce3d040302', 'hex')));
/** 2020 to 2021: nobody's certificate hangs on this one in any case. */
const OVER = der(TAG.sequence, utcTime('200101000000Z'), utcTime('210101000000Z'));
/** A point of P-256 (its generator), which OpenSSL wants to be one. */
const KEY = Buffer.from(
  '3059301306072a8648ce3d020106082a8648ce3d030107034200046b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c2964fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5',
  'hex',
);

/**
 * A certificate that has a name and nothing else: no time, nobody's key, no signature. Node lets a server name the authorities
 * that it accepts only by trusting them in OpenSSL, and of a chain that OpenSSL found to be good it then keeps the leaf alone
 * (Node.js 24.21), without which there is nothing left for us to judge. By this one OpenSSL finds no chain good.
 */
export function bearName(subject: Buffer): Buffer {
  const certificate = der(
    TAG.sequence,
    der(contextTag(0, { constructed: true }), der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, Buffer.from([1])),
    CERTIFICATE_SIGNATURE,
    subject,
    OVER,
    subject,
    KEY,
  );
  return der(TAG.sequence, certificate, CERTIFICATE_SIGNATURE, der(TAG.bitString, Buffer.from([0])));
}

function utcTime(text: string): Buffer {
  return der(0x17, Buffer.from(text));
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const sizes =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...sizes]), content]);
}
