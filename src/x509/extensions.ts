import { DerReader, TAG, toBoolean, toCount } from './der.ts';
import {
  type Alternatives,
  type NameConstraints,
  readAlternatives,
  readConstraints,
} from './name-constraints.ts';

/** RFC 5280, section 4.2. Undefined for what a certificate does not say. */
export interface Extensions {
  readonly basicConstraints?: { readonly isAuthority: boolean; readonly maxPathLength: number | undefined };
  readonly keyUsage?: { readonly signsCertificates: boolean };
  /** Object identifiers. */
  readonly extendedKeyUsage?: readonly string[];
  readonly alternatives?: Alternatives;
  readonly nameConstraints?: NameConstraints;
  /** Marked as not to be passed over by whoever does not know them, which is us. */
  readonly unknownCritical: readonly string[];
}

const OID = {
  keyUsage: '2.5.29.15',
  alternatives: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  extendedKeyUsage: '2.5.29.37',
} as const;

/** Known and without a say in whether a chain may let a client in: key ids, policies, where lists and issuers are. */
const WITHOUT_A_SAY: ReadonlySet<string> = new Set(['2.5.29.14', '2.5.29.31', '2.5.29.32', '2.5.29.35']);

/** Undefined: a certificate without. @throws Error, also when one is there twice: nobody could say which counts */
export function readExtensions(explicit: Buffer | undefined): Extensions {
  const unknownCritical: string[] = [];
  if (explicit === undefined) return { unknownCritical };
  const values = new Map<string, Buffer>();
  const list = new DerReader(DerReader.only(explicit, TAG.sequence));
  while (!list.isAtEnd) {
    const extension = list.sequence();
    const id = extension.oid();
    const critical = extension.optional(TAG.boolean);
    const value = extension.take(TAG.octetString);
    extension.end();
    if (values.has(id)) throw new Error('x509: certificate contains duplicate extensions');
    values.set(id, value);
    const isCritical = critical !== undefined && toBoolean(critical);
    if (isCritical && !isHandled(id, value)) unknownCritical.push(id);
  }
  return { ...readKnown(values), unknownCritical };
}

function isHandled(id: string, value: Buffer): boolean {
  if (WITHOUT_A_SAY.has(id)) return true;
  // Names of kinds that are not compared cannot be held to anything.
  if (id === OID.alternatives) return readAlternatives(value).isComparable;
  if (id === OID.nameConstraints) return readConstraints(value).isWhole;
  return Object.values(OID).some((known) => known === id);
}

function readKnown(values: ReadonlyMap<string, Buffer>): Omit<Extensions, 'unknownCritical'> {
  const read = <T>(id: string, parse: (value: Buffer) => T): T | undefined => {
    const value = values.get(id);
    return value === undefined ? undefined : parse(value);
  };
  const found = {
    basicConstraints: read(OID.basicConstraints, readBasicConstraints),
    keyUsage: read(OID.keyUsage, readKeyUsage),
    extendedKeyUsage: read(OID.extendedKeyUsage, readUsages),
    alternatives: read(OID.alternatives, readAlternatives),
    nameConstraints: read(OID.nameConstraints, readConstraints),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

function readBasicConstraints(value: Buffer): NonNullable<Extensions['basicConstraints']> {
  const fields = new DerReader(DerReader.only(value, TAG.sequence));
  const isAuthority = fields.optional(TAG.boolean);
  const length = fields.optional(TAG.integer);
  fields.end();
  return {
    isAuthority: isAuthority !== undefined && toBoolean(isAuthority),
    maxPathLength: length === undefined ? undefined : toCount(length),
  };
}

/** Bit 5, counted from the left (RFC 5280, section 4.2.1.3). */
function readKeyUsage(value: Buffer): NonNullable<Extensions['keyUsage']> {
  const [, bits = 0] = DerReader.only(value, TAG.bitString);
  return { signsCertificates: (bits & 0x04) !== 0 };
}

function readUsages(value: Buffer): string[] {
  const list = new DerReader(DerReader.only(value, TAG.sequence));
  const usages: string[] = [];
  while (!list.isAtEnd) usages.push(list.oid());
  return usages;
}
