import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { contextTag, DerReader, TAG, toBytes } from './der.ts';
import { type DistinguishedName, readName } from './name.ts';
import { type GeneralName, readAlternatives } from './name-constraints.ts';
import { firstPemBlock } from './pem.ts';

/** A PKCS#10 request (RFC 2986). */
export interface CertificationRequest {
  readonly subject: DistinguishedName;
  /** The subject's alternative names of known kinds: hosts, addresses, mailboxes, URIs. */
  readonly names: readonly GeneralName[];
  /** The public key: a SubjectPublicKeyInfo in DER. */
  readonly publicKey: Buffer;
  /** Why the signature is invalid; undefined: the key of the request made it. */
  readonly signatureProblem: string | undefined;
}

/** Requests are read several times while one is written, and seldom later, so the last few are remembered. */
const REMEMBERED = 32;
const MAX_REMEMBERED_LENGTH = 64 * 1024;
const remembered = new Map<string, CertificationRequest>();

/**
 * The request in `spec.request`, base64 of PEM. The one parser for validation, admission and signers (Kubernetes:
 * certificates.ParseCSR). Only the first block of the text counts.
 * @throws Error when there is none
 */
export function readCertificationRequest(field: string): CertificationRequest {
  const known = remembered.get(field);
  if (known !== undefined) return known;
  const block = firstPemBlock(Buffer.from(field, 'base64').toString('latin1'));
  if (block?.type !== 'CERTIFICATE REQUEST') throw new Error('PEM block type must be CERTIFICATE REQUEST');
  const request = readRequestDer(block.der);
  if (field.length <= MAX_REMEMBERED_LENGTH) remember(field, request);
  return request;
}

function remember(field: string, request: CertificationRequest): void {
  const [oldest] = remembered.keys();
  if (oldest !== undefined && remembered.size >= REMEMBERED) remembered.delete(oldest);
  remembered.set(field, request);
}

/**
 * A request in DER. OpenSSL's messages about keys that it cannot read are meaningless to users and change between versions.
 * @throws Error when it is none
 */
export function readRequestDer(der: Buffer): CertificationRequest {
  try {
    return parse(der);
  } catch (error) {
    throw new Error('asn1: structure error: not a PKCS#10 certification request', { cause: error });
  }
}

function parse(der: Buffer): CertificationRequest {
  const request = new DerReader(DerReader.only(der, TAG.sequence));
  const signed = request.nextOf(TAG.sequence);
  const info = new DerReader(signed.content);
  info.take(TAG.integer);
  const subject = readName(info.nextOf(TAG.sequence).whole);
  const spki = info.nextOf(TAG.sequence).whole;
  const attributes = info.optional(contextTag(0, { constructed: true }));
  info.end();
  const algorithm = request.sequence();
  const signature = toBytes(request.take(TAG.bitString));
  request.end();
  const key = createPublicKey({ key: spki, format: 'der', type: 'spki' });
  return {
    subject,
    names: readNames(attributes ?? Buffer.alloc(0)),
    publicKey: spki,
    signatureProblem: whyNotSigned(key, algorithm, { signed: signed.whole, signature }),
  };
}

const EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
const ALTERNATIVE_NAMES = '2.5.29.17';

/** Only extensions matter among the attributes (RFC 2985, section 5.4.2), and among these only the names: signers choose the others. */
function readNames(attributes: Buffer): readonly GeneralName[] {
  const list = new DerReader(attributes);
  while (!list.isAtEnd) {
    const attribute = list.sequence();
    if (attribute.oid() !== EXTENSION_REQUEST) continue;
    const extensions = new DerReader(attribute.take(TAG.set)).sequence();
    const found = namesIn(extensions);
    if (found !== undefined) return found;
  }
  return [];
}

function namesIn(extensions: DerReader): readonly GeneralName[] | undefined {
  const seen = new Set<string>();
  let names: readonly GeneralName[] | undefined;
  while (!extensions.isAtEnd) {
    const extension = extensions.sequence();
    const id = extension.oid();
    if (seen.has(id)) throw new Error('x509: certificate request contains duplicate requested extensions');
    seen.add(id);
    extension.optional(TAG.boolean);
    const value = extension.take(TAG.octetString);
    if (id === ALTERNATIVE_NAMES) names = readAlternatives(value).names;
  }
  const isAddress = ({ kind, bytes }: GeneralName): boolean =>
    kind !== 'ip' || bytes.length === 4 || bytes.length === 16;
  if (names?.every(isAddress) === false) throw new Error('x509: cannot parse IP address');
  return names;
}

interface Algorithm {
  readonly keyType: string;
  /** Null where the algorithm brings its own. */
  readonly hash: string | null;
}

const PSS = '1.2.840.113549.1.1.10';
const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map([
  ['1.2.840.113549.1.1.5', { keyType: 'rsa', hash: 'sha1' }],
  ['1.2.840.113549.1.1.11', { keyType: 'rsa', hash: 'sha256' }],
  ['1.2.840.113549.1.1.12', { keyType: 'rsa', hash: 'sha384' }],
  ['1.2.840.113549.1.1.13', { keyType: 'rsa', hash: 'sha512' }],
  ['1.2.840.10045.4.1', { keyType: 'ec', hash: 'sha1' }],
  ['1.2.840.10045.4.3.2', { keyType: 'ec', hash: 'sha256' }],
  ['1.2.840.10045.4.3.3', { keyType: 'ec', hash: 'sha384' }],
  ['1.2.840.10045.4.3.4', { keyType: 'ec', hash: 'sha512' }],
  ['1.3.101.112', { keyType: 'ed25519', hash: null }],
]);
const PSS_HASHES: ReadonlyMap<string, string> = new Map([
  ['2.16.840.1.101.3.4.2.1', 'sha256'],
  ['2.16.840.1.101.3.4.2.2', 'sha384'],
  ['2.16.840.1.101.3.4.2.3', 'sha512'],
]);

/** Texts of Go's crypto/x509. */
function whyNotSigned(
  key: KeyObject,
  algorithm: DerReader,
  { signed, signature }: { readonly signed: Buffer; readonly signature: Buffer },
): string | undefined {
  const id = algorithm.oid();
  const isPss = id === PSS;
  const known = isPss ? { keyType: 'rsa', hash: readPssHash(algorithm) } : ALGORITHMS.get(id);
  if (known === undefined || key.asymmetricKeyType !== known.keyType) {
    return 'x509: cannot verify signature: algorithm unimplemented';
  }
  const padding = isPss
    ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : {};
  if (verify(known.hash, signed, { key, dsaEncoding: 'der', ...padding }, signature)) return undefined;
  if (known.keyType === 'rsa') return 'crypto/rsa: verification error';
  return `x509: ${known.keyType === 'ec' ? 'ECDSA' : 'Ed25519'} verification failure`;
}

/** RFC 4055, section 3.1. The salt must be as long as the hash: all tools make it so, and Go reads nothing else. */
function readPssHash(algorithm: DerReader): string {
  const hash = algorithm.sequence().optional(contextTag(0, { constructed: true }));
  const id = hash === undefined ? '' : new DerReader(hash).sequence().oid();
  const found = PSS_HASHES.get(id);
  if (found === undefined) throw new Error('x509: unsupported hash of an RSA-PSS signature');
  return found;
}
