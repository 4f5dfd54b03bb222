import { constants, createPublicKey, verify } from 'node:crypto';
import type { Pkcs10CertificateRequest } from '@peculiar/x509';
import { parseCertificationRequest } from '../../object/certification-request.ts';
import { count, part, text } from '../../object/parts.ts';
import { toObject } from '../validation/fields.ts';
import { parsePem } from './pem.ts';

/**
 * What is wrong with a PKCS#10 request in PEM (RFC 2986), or undefined. It must be signed with the key it asks a certificate
 * for: a request with somebody else's key proves nothing.
 */
export function whyNoRequest(pem: string): string | undefined {
  const [block] = parsePem(pem);
  if (block?.label !== 'CERTIFICATE REQUEST') return 'PEM block type must be CERTIFICATE REQUEST';
  try {
    const request = parseCertificationRequest(block.der);
    return isSignedByItsKey(request, block.der) ? undefined : signatureText(request);
  } catch {
    return 'asn1: structure error: not a PKCS#10 certification request';
  }
}

function isSignedByItsKey(request: Pkcs10CertificateRequest, der: Buffer): boolean {
  const key = createPublicKey({
    key: Buffer.from(request.publicKey.rawData),
    format: 'der',
    type: 'spki',
  });
  const { name, hash, saltLength } = algorithmOf(request);
  const pss = name === 'RSA-PSS' ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength } : {};
  const signature = Buffer.from(request.signature);
  return verify(hash, signedPart(der), { key, dsaEncoding: 'der', ...pss }, signature);
}

interface SignatureAlgorithm {
  readonly name: string;
  /** Null where the algorithm brings its own (Ed25519). */
  readonly hash: string | null;
  readonly saltLength: number;
}

/** The library's own type of algorithms says nothing outside a browser, so they are read as what they are: JSON. */
function algorithmOf({ signatureAlgorithm }: Pkcs10CertificateRequest): SignatureAlgorithm {
  const algorithm = toObject(JSON.parse(JSON.stringify(signatureAlgorithm)));
  const hash = text(part(algorithm, 'hash').name).replace('-', '');
  return {
    name: text(algorithm.name),
    hash: hash === '' ? null : hash,
    saltLength: count(algorithm.saltLength),
  };
}

/** Texts of Go's crypto/x509. */
function signatureText(request: Pkcs10CertificateRequest): string {
  const { name } = algorithmOf(request);
  return name.startsWith('RSA') ? 'crypto/rsa: verification error' : `x509: ${name} verification failure`;
}

/** The first element of the outer sequence, header included: that is what the signature is over. */
function signedPart(der: Buffer): Buffer {
  const outer = readLength(der, 1);
  const inner = readLength(der, outer.end + 1);
  return der.subarray(outer.end, inner.end + inner.length);
}

/** A DER length at `at`; `end` is where the content begins. */
function readLength(der: Buffer, at: number): { readonly length: number; readonly end: number } {
  const first = der.readUInt8(at);
  if (first < 0x80) return { length: first, end: at + 1 };
  const bytes = first & 0x7f;
  return { length: der.readUIntBE(at + 1, bytes), end: at + 1 + bytes };
}
