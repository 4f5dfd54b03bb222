import { readFileSync } from 'node:fs';
import type { Client } from '@grpc/grpc-js';
import protobuf from 'protobufjs/minimal.js';
import { readFields } from '../../codec/protobuf/read-fields.ts';
import type { StoredValue } from './stored-values.ts';

interface EtcdAddress {
  /** `host:2379` */
  readonly host: string;
  /** Files in PEM form; '' for none. Without an authority, the connection is in plain text. */
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

const PAGE = 500;
const DEADLINE_MS = 60_000;
const FIRST = '/registry/';
/** The key after all that begin with /registry/. */
const END = '/registry0';
const MAX_ANSWER_BYTES = 512 * 1024 * 1024;

/** Reads all keys below /registry of an etcd v3, in pages of one revision (etcdserverpb.KV/Range). @throws Error */
export async function* readEtcd(address: EtcdAddress): AsyncGenerator<StoredValue> {
  const client = await connect(address);
  try {
    let from: Uint8Array = Buffer.from(FIRST);
    let revision = '0';
    for (;;) {
      const page = decodePage(await range(client, address, encodeRequest(from, revision)));
      revision = page.revision;
      for (const { key, value } of page.values)
        yield { key: Buffer.from(key).toString(), value: Buffer.from(value) };
      const last = page.values.at(-1);
      if (!page.hasMore || last === undefined) return;
      from = Buffer.concat([last.key, Buffer.of(0)]);
    }
  } finally {
    client.close();
  }
}

async function connect({ host, caFile, certFile, keyFile }: EtcdAddress): Promise<Client> {
  const { Client, credentials } = await import('@grpc/grpc-js');
  const read = (path: string): Buffer | null => (path === '' ? null : readFileSync(path));
  const security =
    caFile === ''
      ? credentials.createInsecure()
      : credentials.createSsl(read(caFile), read(keyFile), read(certFile));
  return new Client(host, security, { 'grpc.max_receive_message_length': MAX_ANSWER_BYTES });
}

const range = (client: Client, { host }: EtcdAddress, request: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      '/etcdserverpb.KV/Range',
      (bytes: Buffer) => bytes,
      (bytes: Buffer) => bytes,
      request,
      { deadline: Date.now() + DEADLINE_MS },
      (error, answer) => {
        if (error === null && answer !== undefined) resolve(answer);
        else reject(new Error(`etcd at ${host}: ${reasonIn(error?.details)}`, { cause: error }));
      },
    );
  });

/** The library puts the reason between sentences of its own. */
function reasonIn(details = 'no answer'): string {
  const [, reason = details] = /Last error: (?:Error: )?(.*?)\. Resolution note:/.exec(details) ?? [];
  return reason.includes('ECONNREFUSED') ? 'nothing answers there: start it, or correct the address' : reason;
}

const VARINT = 0;
const DELIMITED = 2;
const tag = (field: number, type: number): number => (field << 3) | type;

/** RangeRequest: key, range_end, limit, revision. */
function encodeRequest(from: Uint8Array, revision: string): Buffer {
  const writer = protobuf.Writer.create();
  writer.uint32(tag(1, DELIMITED)).bytes(from);
  writer.uint32(tag(2, DELIMITED)).bytes(Buffer.from(END));
  writer.uint32(tag(3, VARINT)).uint32(PAGE);
  writer.uint32(tag(4, VARINT)).uint64(revision);
  return Buffer.from(writer.finish());
}

interface KeyValue {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

interface Page {
  readonly revision: string;
  readonly values: readonly KeyValue[];
  readonly hasMore: boolean;
}

/** RangeResponse: header with the revision, kvs, more. */
function decodePage(bytes: Buffer): Page {
  const values: KeyValue[] = [];
  let revision = '0';
  let hasMore = false;
  readFields(bytes, (field, reader) => {
    if (field === 1)
      readFields(reader.bytes(), (inner, header) => {
        if (inner !== 3) return false;
        revision = String(header.uint64());
        return true;
      });
    else if (field === 2) values.push(decodeKeyValue(reader.bytes()));
    else if (field === 3) hasMore = reader.bool();
    else return false;
    return true;
  });
  return { revision, values, hasMore };
}

function decodeKeyValue(bytes: Uint8Array): KeyValue {
  let key: Uint8Array = Buffer.alloc(0);
  let value: Uint8Array = Buffer.alloc(0);
  readFields(bytes, (field, reader) => {
    if (field === 1) key = reader.bytes();
    else if (field === 5) value = reader.bytes();
    else return false;
    return true;
  });
  return { key, value };
}
