import { DerReader, TAG } from './der.ts';

/** What a distinguished name says of who it names (RFC 5280, section 4.1.2.4). */
export interface DistinguishedName {
  /** The last one, where there are several. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** DER: names are the same when their bytes are. */
  readonly raw: Buffer;
}

const COMMON_NAME = '2.5.4.3';
const ORGANIZATION = '2.5.4.10';

/**
 * Reads the values themselves, not a text made for people: in that `+`, `,` and `\` are escaped, and lines are ends.
 * @throws Error
 */
export function readName(raw: Buffer): DistinguishedName {
  let commonName = '';
  const organizations: string[] = [];
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
    }
  }
  return { commonName, organizations, raw };
}

const STRING = { numeric: 0x12, printable: 0x13, t61: 0x14, ia5: 0x16, bmp: 0x1e } as const;

/** Every kind of string that Go reads: a name in a kind that one reader skips is a name that only the other one sees. */
function toText(tag: number, content: Buffer): string {
  switch (tag) {
    case TAG.utf8String:
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
    case STRING.printable:
      return checked(content, /^[A-Za-z0-9 '()+,\-./:=?*&]*$/, 'PrintableString');
    case STRING.ia5:
      // biome-ignore lint/suspicious/noControlCharactersInRegex: IA5 is ASCII, with all of it
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
