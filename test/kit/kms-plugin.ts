import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { type handleUnaryCall, Server, ServerCredentials, status } from '@grpc/grpc-js';
import protobuf from 'protobufjs';

/**
 * A KMS v2 plugin as a program of its own: node kms-plugin.ts <socket> <key id> [delay in ms]. It encrypts with keys made of their
 * ids. Lines of its input are orders: `key <id>`, `delay <ms>`, `unwell <why>`, `well`. It answers each with the order, and
 * `ready` once it listens; `calls` tells how often each method was called.
 */
const { root } = protobuf.parse(
  `syntax = "proto3"; package v2;
  message StatusResponse { string version = 1; string healthz = 2; string key_id = 3; }
  message DecryptRequest { bytes ciphertext = 1; string uid = 2; string key_id = 3; map<string, bytes> annotations = 4; }
  message DecryptResponse { bytes plaintext = 1; }
  message EncryptRequest { bytes plaintext = 1; string uid = 2; }
  message EncryptResponse { bytes ciphertext = 1; string key_id = 2; map<string, bytes> annotations = 3; }
  message StatusRequest {}`,
  { keepCase: true },
);

const [, , socket = '', firstKey = '1', firstDelay = '0'] = process.argv;
const state = { key: firstKey, delayMs: Number(firstDelay), healthz: 'ok' };
const calls = { Status: 0, Encrypt: 0, Decrypt: 0 };
const ANNOTATION = 'version.example.com';

const cipherKey = (id: string): Buffer => createHash('sha256').update(id).digest();

type Fields = Record<string, Buffer & string>;

type Method = keyof typeof calls;

const METHODS: Record<Method, (request: Fields) => object> = {
  Status: () => ({ version: 'v2', healthz: state.healthz, key_id: state.key }),
  Encrypt: ({ plaintext = Buffer.alloc(0) }) => {
    const iv = randomBytes(16);
    const cipher = createCipheriv('aes-256-cbc', cipherKey(state.key), iv);
    const ciphertext = Buffer.concat([iv, cipher.update(plaintext), cipher.final()]);
    return { ciphertext, key_id: state.key, annotations: { [ANNOTATION]: Buffer.from('1') } };
  },
  Decrypt: ({ ciphertext = Buffer.alloc(0), key_id = '', annotations }) => {
    const version = (annotations as unknown as Record<string, Buffer>)[ANNOTATION];
    if (version?.toString() !== '1') throw new Error('the annotations did not come back');
    const decipher = createDecipheriv('aes-256-cbc', cipherKey(key_id), ciphertext.subarray(0, 16));
    return { plaintext: Buffer.concat([decipher.update(ciphertext.subarray(16)), decipher.final()]) };
  },
};

const handle =
  (name: Method): handleUnaryCall<Fields, object> =>
  ({ request }, callback) => {
    calls[name] += 1;
    setTimeout(() => {
      try {
        callback(null, METHODS[name](request));
      } catch (error) {
        callback({ code: status.INVALID_ARGUMENT, details: String(error) });
      }
    }, state.delayMs);
  };

function describe(name: Method) {
  const [request, response] = [root.lookupType(`v2.${name}Request`), root.lookupType(`v2.${name}Response`)];
  return {
    path: `/v2.KeyManagementService/${name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: (value: object) => Buffer.from(request.encode(value).finish()),
    requestDeserialize: (bytes: Buffer) => request.decode(bytes),
    responseSerialize: (value: object) => Buffer.from(response.encode(value).finish()),
    responseDeserialize: (bytes: Buffer) => response.decode(bytes),
  };
}

const server = new Server();
const names: readonly Method[] = ['Status', 'Encrypt', 'Decrypt'];
const definition = Object.fromEntries(names.map((name) => [name, describe(name)]));
const handlers = Object.fromEntries(names.map((name) => [name, handle(name)]));
server.addService(definition, handlers);

const say = (line: string): void => void process.stdout.write(`${line}\n`);

server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) => {
  if (error !== null) throw error;
  say('ready');
});

let input = '';
process.stdin.on('data', (chunk: Buffer) => {
  input += chunk.toString();
  const lines = input.split('\n');
  input = lines.pop() ?? '';
  for (const line of lines) obey(line);
});
process.stdin.on('end', () => process.exit(0));

function obey(line: string): void {
  const [order, ...rest] = line.split(' ');
  const value = rest.join(' ');
  if (order === 'key') state.key = value;
  else if (order === 'delay') state.delayMs = Number(value);
  else if (order === 'unwell') state.healthz = value;
  else if (order === 'well') state.healthz = 'ok';
  say(order === 'calls' ? JSON.stringify(calls) : line);
}
