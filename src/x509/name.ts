import { contextTag, DerReader, TAG, writeDer } from './der.ts';

/** The parts of a distinguished name that identify a user (RFC 5280, section 4.1.2.4). */
export interface DistinguishedName {
  /** The last one, if there are several. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** The uids of a user, in the attribute that Kubernetes has for them. */
  readonly uids: readonly string[];
  /** DER: names are the same when their bytes are. */
  readonly raw: Buffer;
}

const COMMON_NAME = '2.5.4.3';
const ORGANIZATION = '2.5.4.10';
/** Kubernetes: apimachinery, apis/asn1 */
const USER_UID = '1.3.6.1.4.1.57683.2';

/**
 * Reads the values themselves, not a text form, in which `+`, `,` and `\` are escaped and line ends are separators.
 * @throws Error
 */
export function readName(raw: Buffer): DistinguishedName {
  let commonName = '';
  const organizations: string[] = [];
  const uids: string[] = [];
  const parts = new DerReader(DerReader.only(raw, TAG.sequence));
  while (!parts.isAtEnd) {
    const attributes = new DerReader(parts.take(TAG.set));
    while (!attributes.isAtEnd) {
      const attribute = attributes.sequence();
      const type = attribute.oid();
      const { tag, content } = attribute.next();
      const value = toText(tag, content);
      if (type === COMMON_NAME) commonName = value;
      if (type === ORGANIZATION) organizations.push(value);
      if (type === USER_UID) uids.push(value);
    }
  }
  return { commonName, organizations, uids, raw };
}

const STRING = { numeric: 0x12, printable: 0x13, t61: 0x14, ia5: 0x16, bmp: 0x1e } as const;

/** Reads every kind of string that Go reads, so that both see the same names. */
function toText(tag: number, content: Buffer): string {
  switch (tag) {
    case TAG.utf8String:
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
    case STRING.printable:
      return checked(content, /^[A-Za-z0-9 '()+,\-./:=?*&]*$/, 'PrintableString');
    case STRING.ia5:
      // biome-ignore lint/suspicious/noControlCharactersInRegex: IA5 is all of ASCII
      return checked(content, /^[\u0000-\u007f]*$/, 'IA5String');
    case STRING.numeric:
      return checked(content, /^[0-9 ]*$/, 'NumericString');
    case STRING.t61:
      return content.toString('utf8');
    case STRING.bmp:
      return fromBmp(content);
    default:
      throw new Error(`x509: unsupported string type: ${tag}`);
  }
}

function checked(content: Buffer, pattern: RegExp, kind: string): string {
  const text = content.toString('latin1');
  if (!pattern.test(text)) throw new Error(`x509: invalid ${kind}`);
  return text;
}

/** Two bytes a character, high ones first; some writers end it with a zero. */
function fromBmp(content: Buffer): string {
  if (content.length % 2 !== 0) throw new Error('x509: invalid BMPString');
  const text = Buffer.from(content).swap16().toString('utf16le');
  return text.endsWith('\u0000') ? text.slice(0, -1) : text;
}

const CERTIFICATE_SIGNATURE = writeDer(
  TAG.sequence,
  writeDer(TAG.oid, Buffer.from('2a8648ce3d040302', 'hex')),
);
/** 2020 to 2021: expired, so that it makes no chain valid. */
const OVER = writeDer(TAG.sequence, utcTime('200101000000Z'), utcTime('210101000000Z'));
/** X25519 (RFC 8410) cannot sign, so that OpenSSL never takes the certificate for an issuer, nor checks a signature in vain. */
const KEY = Buffer.concat([Buffer.from('302a300506032b656e032100', 'hex'), Buffer.alloc(32, 9)]);

/**
 * A certificate that has a name and nothing else: expired, without a usable key, unsigned. Node names the authorities that a
 * server accepts only if OpenSSL trusts them, and keeps only the leaf of a chain that OpenSSL finds valid (Node.js 24.21), which
 * leaves nothing to verify here. This certificate makes no chain valid. It makes none invalid either: a signature that does not
 * match would leave an error behind in OpenSSL, which Node then reports for its next operation.
 */
export function bearName(subject: Buffer): Buffer {
  const certificate = writeDer(
    TAG.sequence,
    writeDer(contextTag(0, { constructed: true }), writeDer(TAG.integer, Buffer.from([2]))),
    writeDer(TAG.integer, Buffer.from([1])),
    CERTIFICATE_SIGNATURE,
    subject,
    OVER,
    subject,
    KEY,
  );
  return writeDer(
    TAG.sequence,
    certificate,
    CERTIFICATE_SIGNATURE,
    writeDer(TAG.bitString, Buffer.from([0])),
  );
}

function utcTime(text: string): Buffer {
  return writeDer(0x17, Buffer.from(text));
}
