import { contextTag, TAG } from './der.ts';

const CERTIFICATE_SIGNATURE = der(TAG.sequence, der(TAG.oid, Buffer.from('2a8648ce3d040302', 'hex')));
/** 2020 to 2021: nobody's certificate hangs on this one in any case. */
const OVER = der(TAG.sequence, utcTime('200101000000Z'), utcTime('210101000000Z'));
/** X25519 (RFC 8410) agrees on keys and signs nothing: so OpenSSL takes it for nobody's issuer, and checks no signature in vain. */
const KEY = Buffer.concat([Buffer.from('302a300506032b656e032100', 'hex'), Buffer.alloc(32, 9)]);

/**
 * A certificate that has a name and nothing else: no time, nobody's key, no signature. Node lets a server name the authorities
 * that it accepts only by trusting them in OpenSSL, and of a chain that OpenSSL found to be good it then keeps the leaf alone
 * (Node.js 24.21), so that nothing is left for us to judge. This one makes no chain good. Nor does it make one bad: a signature
 * that does not fit leaves an error behind in OpenSSL, which Node then takes for that of whatever it does next.
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
