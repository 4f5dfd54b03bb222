import { createDecipheriv } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { xsalsa20poly1305 } from '@noble/ciphers/salsa.js';
import type { JsonObject } from '../../api/object-meta.ts';
import { decodeEnvelope, readEnvelopeType } from '../../codec/protobuf/envelope.ts';
import { parseJsonBytes } from '../../object/exact-json.ts';
import { isObject, textOf } from '../../object/json-values.ts';
import {
  type KeyedKind,
  type NamedKey,
  parseEncryptionConfig,
} from '../../storage/encryption/encryption-config.ts';
import { errorText } from '../../util/error-text.ts';
import { getOrAdd } from '../../util/get-or-add.ts';
import type { Unordered } from './in-order.ts';
import type { Shapes } from './shapes.ts';

/** A key below /registry with its value, as kube-apiserver writes them to etcd. */
export interface StoredValue {
  readonly key: string;
  readonly value: Buffer;
}

const PROTOBUF = Buffer.from([0x6b, 0x38, 0x73, 0x00]);
const ENCRYPTED = 'k8s:enc:';
/** `k8s:enc:aescbc:v1:key1:`, then the sealed bytes. */
const HEAD = /^k8s:enc:([a-z0-9]+):v\d+:([^:]*):/;
const LONGEST_HEAD = 512;

type Open = (sealed: Buffer, key: Buffer, context: Buffer) => Buffer;

/** kube-apiserver's own forms (apiserver, storage/value/encrypt), whose context is the whole key. */
const OPENERS: Readonly<Record<KeyedKind, Open>> = {
  aescbc: (sealed, key) => {
    const decipher = createDecipheriv(`aes-${key.length * 8}-cbc`, key, sealed.subarray(0, 16));
    return Buffer.concat([decipher.update(sealed.subarray(16)), decipher.final()]);
  },
  aesgcm: (sealed, key, context) => {
    const decipher = createDecipheriv(aesName(key), key, sealed.subarray(0, 12))
      .setAAD(context)
      .setAuthTag(sealed.subarray(-16));
    return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]);
  },
  secretbox: (sealed, key) =>
    Buffer.from(xsalsa20poly1305(key, sealed.subarray(0, 24)).decrypt(sealed.subarray(24))),
};

function aesName(key: Buffer): 'aes-128-gcm' | 'aes-192-gcm' | 'aes-256-gcm' {
  if (key.length === 16) return 'aes-128-gcm';
  return key.length === 24 ? 'aes-192-gcm' : 'aes-256-gcm';
}

/** The keys of the source's encryption configuration. */
export class SourceKeys {
  readonly #keys = new Map<string, { readonly kind: KeyedKind; readonly all: NamedKey[] }>();
  readonly #path: string;

  /** `path`: ''  where nothing is encrypted. @throws Error that names the file and the mistake */
  constructor(path: string) {
    this.#path = path;
    if (path === '') return;
    try {
      const rules = parseEncryptionConfig(readFileSync(path, 'utf8'));
      for (const provider of rules.flatMap(({ providers }) => providers))
        if (provider.kind !== 'identity' && provider.kind !== 'kms') this.#add(provider.kind, provider.keys);
    } catch (error) {
      throw new Error(`--from-encryption-config: ${path}: ${errorText(error)}`, { cause: error });
    }
  }

  #add(kind: KeyedKind, keys: readonly NamedKey[]): void {
    for (const key of keys)
      getOrAdd(this.#keys, `${kind}:${key.name}`, () => ({ kind, all: [] })).all.push(key);
  }

  /** @throws Error that says which key is missing */
  open({ key, value }: StoredValue): Buffer {
    if (!value.subarray(0, ENCRYPTED.length).equals(Buffer.from(ENCRYPTED))) return value;
    const [head = '', kind = '', name = ''] =
      HEAD.exec(value.subarray(0, LONGEST_HEAD).toString('latin1')) ?? [];
    if (kind === 'kms')
      throw new Error(
        'it is encrypted by a KMS plugin: read it through the API instead, --from=a kubeconfig',
      );
    const known = this.#keys.get(`${kind}:${name}`);
    if (known === undefined)
      throw new Error(
        this.#path === ''
          ? `it is encrypted by the key ${name} of ${kind}: name the configuration, --from-encryption-config=`
          : `it is encrypted by the key ${name} of ${kind}, which ${this.#path} lacks`,
      );
    const sealed = value.subarray(Buffer.byteLength(head, 'latin1'));
    for (const { secret } of known.all)
      try {
        return OPENERS[known.kind](sealed, secret, Buffer.from(key));
      } catch {
        // Another rule may have another key of this name.
      }
    throw new Error(`the key ${name} of ${kind} does not open it`);
  }
}

/** An object in a store. */
export interface Decodable extends Unordered {
  /** @throws Error */
  readonly read: () => JsonObject;
}

/** What a store has besides objects: allocations, which services bring, and the leases of API servers. */
const NO_OBJECTS = /^\/registry\/(?:ranges|masterleases|peerserverleases|compact_rev_key)(?:\/|$)/;

/**
 * An object by its stored bytes; undefined: they are none. Objects of unknown types are refused by their shape later.
 * @throws Error that says why the bytes cannot be read
 */
export function toDecodable(stored: StoredValue, keys: SourceKeys, shapes: Shapes): Decodable | undefined {
  if (NO_OBJECTS.test(stored.key)) return undefined;
  const bytes = keys.open(stored);
  const size = bytes.length;
  if (!bytes.subarray(0, PROTOBUF.length).equals(PROTOBUF)) {
    return { ...readType(bytes), size, read: () => parse(bytes) };
  }
  const type = readEnvelopeType(bytes);
  const schema = shapes.schemaOf(type);
  if (schema === undefined) throw new Error(`there is no built-in type ${type.apiVersion} ${type.kind}`);
  return { ...type, size, read: () => decodeEnvelope(bytes, schema) };
}

/** The type of an object in JSON: it stands at its begin, so that most of it need not be parsed yet. @throws Error */
function readType(json: Buffer): Pick<Unordered, 'apiVersion' | 'kind'> {
  const [, apiVersion = '', kind = ''] = TYPE.exec(json.toString('latin1', 0, LONGEST_HEAD)) ?? [];
  if (kind !== '') return { apiVersion, kind };
  const value = parse(json);
  return { apiVersion: textOf(value.apiVersion), kind: textOf(value.kind) };
}

/** In the order of Go's maps, which custom resources have. */
const TYPE = /^\{"apiVersion":"([^"\\]*)","kind":"([^"\\]*)"/;

/** @throws Error */
function parse(json: Buffer): JsonObject {
  const value = parseJsonBytes(json);
  if (!isObject(value)) throw new Error('it is no object');
  return value;
}
