import protobuf from 'protobufjs/minimal.js';
import { readFields } from '../../codec/protobuf/read-fields.ts';

/** The messages of KMS API v2 (k8s.io/kms/apis/v2, api.proto), and the envelope of stored objects that its keys encrypt. */

type Annotations = ReadonlyMap<string, Uint8Array>;

export interface KmsStatus {
  readonly version: string;
  /** `ok`, or what is wrong. */
  readonly healthz: string;
  readonly keyId: string;
}

export interface EncryptedSeed {
  readonly ciphertext: Uint8Array;
  readonly keyId: string;
  readonly annotations: Annotations;
}

export function decodeStatus(bytes: Uint8Array): KmsStatus {
  const status = { version: '', healthz: '', keyId: '' };
  const names = ['version', 'healthz', 'keyId'] as const;
  readFields(bytes, (field, reader) => {
    const name = names[field - 1];
    if (name !== undefined) status[name] = reader.string();
    return name !== undefined;
  });
  return status;
}

export function encodeEncryptRequest({ plaintext, uid }: { plaintext: Uint8Array; uid: string }): Buffer {
  const writer = protobuf.Writer.create();
  writer.uint32(tagOf(1)).bytes(plaintext);
  writer.uint32(tagOf(2)).string(uid);
  return Buffer.from(writer.finish());
}

export function decodeEncryptResponse(bytes: Uint8Array): EncryptedSeed {
  let ciphertext: Uint8Array = Buffer.alloc(0);
  let keyId = '';
  const annotations = new Map<string, Uint8Array>();
  readFields(bytes, (field, reader) => {
    if (field === 1) ciphertext = reader.bytes();
    else if (field === 2) keyId = reader.string();
    else if (field === 3) annotations.set(...readEntry(reader.bytes()));
    else return false;
    return true;
  });
  return { ciphertext, keyId, annotations };
}

export function encodeDecryptRequest(seed: EncryptedSeed & { readonly uid: string }): Buffer {
  const writer = protobuf.Writer.create();
  writer.uint32(tagOf(1)).bytes(seed.ciphertext);
  writer.uint32(tagOf(2)).string(seed.uid);
  writer.uint32(tagOf(3)).string(seed.keyId);
  writeAnnotations(writer, seed.annotations);
  return Buffer.from(writer.finish());
}

export function decodeDecryptResponse(bytes: Uint8Array): Uint8Array {
  let plaintext: Uint8Array = Buffer.alloc(0);
  readFields(bytes, (field, reader) => {
    if (field === 1) plaintext = reader.bytes();
    return field === 1;
  });
  return plaintext;
}

/** Kubernetes' EncryptedObject (kmsv2/v2/api.proto): the data, and the seed of its key, encrypted by the plugin. */
interface Envelope extends EncryptedSeed {
  readonly data: Uint8Array;
}

/** HKDF_SHA256_XNONCE_AES_GCM_SEED: the plugin encrypts a seed, from which writes derive keys. */
const SEED = 1;

/** `seed` comes from encodeSeed. */
export function encodeEnvelope(data: Buffer, seed: Uint8Array): Buffer {
  const head = protobuf.Writer.create().uint32(tagOf(1)).uint32(data.length).finish();
  return Buffer.concat([head, data, seed]);
}

/** Encodes what follows the data of an envelope: the same for all writes with one seed. */
export function encodeSeed({ keyId, ciphertext, annotations }: EncryptedSeed): Uint8Array {
  const writer = protobuf.Writer.create();
  writer.uint32(tagOf(2)).string(keyId);
  writer.uint32(tagOf(3)).bytes(ciphertext);
  writeAnnotations(writer, annotations);
  writer.uint32(5 << 3).int32(SEED);
  return writer.finish();
}

/** @throws Error for bytes that are no envelope */
export function decodeEnvelope(bytes: Uint8Array): Envelope {
  let data: Uint8Array = Buffer.alloc(0);
  let ciphertext: Uint8Array = Buffer.alloc(0);
  let keyId = '';
  let source = 0;
  const annotations = new Map<string, Uint8Array>();
  readFields(bytes, (field, reader) => {
    if (field === 1) data = reader.bytes();
    else if (field === 2) keyId = reader.string();
    else if (field === 3) ciphertext = reader.bytes();
    else if (field === 4) annotations.set(...readEntry(reader.bytes()));
    else if (field === 5) source = reader.int32();
    else return false;
    return true;
  });
  if (source !== SEED || data.length === 0 || ciphertext.length === 0)
    throw new Error('the bytes are no envelope');
  return { data, keyId, ciphertext, annotations };
}

/** Tag of a field with a length: a string, bytes or a message. */
const tagOf = (field: number): number => (field << 3) | 2;

/** Field 4 in both messages. */
function writeAnnotations(writer: protobuf.Writer, annotations: Annotations): void {
  for (const [name, value] of annotations) {
    writer.uint32(tagOf(4)).fork();
    writer.uint32(tagOf(1)).string(name);
    writer.uint32(tagOf(2)).bytes(value).ldelim();
  }
}

function readEntry(bytes: Uint8Array): [string, Uint8Array] {
  let name = '';
  let value: Uint8Array = Buffer.alloc(0);
  readFields(bytes, (field, reader) => {
    if (field === 1) name = reader.string();
    else if (field === 2) value = reader.bytes();
    else return false;
    return true;
  });
  return [name, value];
}
