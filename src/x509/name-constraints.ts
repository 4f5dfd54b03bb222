import { contextTag, DerReader, TAG, writeDer } from './der.ts';

/** Alternative names, and the names that an authority may issue for (RFC 5280, sections 4.2.1.6 and 4.2.1.10). */

type Kind = 'dns' | 'email' | 'uri' | 'ip';

/** One name, or one subtree of names. Addresses are their bytes; as a subtree followed by a mask. */
export interface GeneralName {
  readonly kind: Kind;
  readonly text: string;
  readonly bytes: Buffer;
}

export interface Alternatives {
  readonly names: readonly GeneralName[];
  /** Whether at least one name is of a known kind. */
  readonly isComparable: boolean;
}

export interface NameConstraints {
  readonly permitted: readonly GeneralName[];
  readonly excluded: readonly GeneralName[];
  /** Whether all of them are of known kinds. */
  readonly isWhole: boolean;
}

const KINDS: ReadonlyMap<number, Kind> = new Map([
  [contextTag(1, { constructed: false }), 'email'],
  [contextTag(2, { constructed: false }), 'dns'],
  [contextTag(6, { constructed: false }), 'uri'],
  [contextTag(7, { constructed: false }), 'ip'],
]);

export function readAlternatives(value: Buffer): Alternatives {
  const list = new DerReader(DerReader.only(value, TAG.sequence));
  const names: GeneralName[] = [];
  while (!list.isAtEnd) {
    const name = readGeneralName(list);
    if (name !== undefined) names.push(name);
  }
  return { names, isComparable: names.length > 0 };
}

/** The value of the extension that gives a certificate these names. */
export function writeAlternatives(names: readonly GeneralName[]): Buffer {
  const tags = new Map([...KINDS].map(([tag, kind]) => [kind, tag]));
  return writeDer(TAG.sequence, ...names.map(({ kind, bytes }) => writeDer(tags.get(kind) ?? 0, bytes)));
}

/** Undefined for a name of another kind. */
function readGeneralName(reader: DerReader): GeneralName | undefined {
  const { tag, content } = reader.next();
  const kind = KINDS.get(tag);
  if (kind === undefined) return undefined;
  if (kind !== 'ip' && content.some((byte) => byte > 0x7f)) throw new Error('x509: name is not an IA5String');
  return { kind, text: kind === 'ip' ? '' : content.toString('latin1'), bytes: content };
}

export function readConstraints(value: Buffer): NameConstraints {
  const fields = new DerReader(DerReader.only(value, TAG.sequence));
  const permitted = readSubtrees(fields.optional(contextTag(0, { constructed: true })));
  const excluded = readSubtrees(fields.optional(contextTag(1, { constructed: true })));
  fields.end();
  return {
    permitted: permitted.known,
    excluded: excluded.known,
    isWhole: permitted.isWhole && excluded.isWhole,
  };
}

function readSubtrees(content: Buffer | undefined): { known: GeneralName[]; isWhole: boolean } {
  const known: GeneralName[] = [];
  let isWhole = true;
  const list = new DerReader(content ?? Buffer.alloc(0));
  while (!list.isAtEnd) {
    const subtree = list.sequence();
    const base = readGeneralName(subtree);
    // RFC 5280 does not use minimum and maximum, and they are not supported here.
    if (base === undefined || !subtree.isAtEnd) isWhole = false;
    else known.push(base);
  }
  return { known, isWhole };
}

/** Whether an authority with these constraints may vouch for these names. Kinds without a constraint are free. */
export function allowsNames({ permitted, excluded }: NameConstraints, { names }: Alternatives): boolean {
  return names.every((name) => {
    if (excluded.some((subtree) => isWithin(name, subtree))) return false;
    const sameKind = permitted.filter(({ kind }) => kind === name.kind);
    return sameKind.length === 0 || sameKind.some((subtree) => isWithin(name, subtree));
  });
}

function isWithin(name: GeneralName, subtree: GeneralName): boolean {
  if (name.kind !== subtree.kind) return false;
  switch (name.kind) {
    case 'dns':
      return isWithinDomain(name.text, subtree.text);
    case 'email':
      return isWithinMailbox(name.text, subtree.text);
    case 'uri':
      return URL.canParse(name.text) && isWithinHosts(new URL(name.text).hostname, subtree.text);
    case 'ip':
      return isWithinRange(name.bytes, subtree.bytes);
    default:
      return name.kind satisfies never;
  }
}

/** `example.com` matches itself and all domains below it; a leading dot makes no difference. */
function isWithinDomain(name: string, subtree: string): boolean {
  const [host, domain] = [name.toLowerCase(), subtree.toLowerCase().replace(/^\./, '')];
  return domain === '' || host === domain || host.endsWith(`.${domain}`);
}

/** `subtree` is a mailbox, a host, or with a dot in front the hosts below a domain. */
function isWithinMailbox(name: string, subtree: string): boolean {
  const at = name.lastIndexOf('@');
  if (!subtree.includes('@')) return isWithinHosts(name.slice(at + 1), subtree);
  const split = subtree.lastIndexOf('@');
  const sameUser = name.slice(0, Math.max(at, 0)) === subtree.slice(0, split);
  return sameUser && name.slice(at + 1).toLowerCase() === subtree.slice(split + 1).toLowerCase();
}

function isWithinHosts(host: string, subtree: string): boolean {
  const [own, wanted] = [host.toLowerCase(), subtree.toLowerCase()];
  return wanted.startsWith('.') ? own.endsWith(wanted) : wanted === '' || own === wanted;
}

function isWithinRange(address: Buffer, range: Buffer): boolean {
  if (range.length !== address.length * 2) return false;
  return address.every((byte, at) => {
    const mask = range[address.length + at] ?? 0xff;
    return (byte & mask) === ((range[at] ?? 0) & mask);
  });
}
