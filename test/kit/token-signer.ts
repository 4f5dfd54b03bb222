import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { type handleUnaryCall, Server, ServerCredentials } from '@grpc/grpc-js';
import protobuf from 'protobufjs';

/** A signer of service account tokens, as another program has it (k8s.io/externaljwt). */
const messages = (version: string) =>
  protobuf.parse(
    `syntax = "proto3"; package ${version};
    message SignJWTRequest { string claims = 1; }
    message SignJWTResponse { string header = 1; string signature = 2; }
    message FetchKeysRequest {}
    message Timestamp { int64 seconds = 1; int32 nanos = 2; }
    message FetchKeysResponse { repeated Key keys = 1; Timestamp data_timestamp = 2; int64 refresh_hint_seconds = 3; }
    message Key { string key_id = 1; bytes key = 2; bool exclude_from_oidc_discovery = 3; }
    message MetadataRequest {}
    message MetadataResponse { int64 max_token_expiration_seconds = 1; }`,
    { keepCase: true },
  ).root;

interface SignerKey {
  readonly id: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  hidden: boolean;
}

export const newSignerKey = (id: string): SignerKey => ({
  ...generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  id,
  hidden: false,
});

export class TokenSigner implements AsyncDisposable {
  readonly keys: SignerKey[];
  /** The last key signs. */
  maxExpirationSeconds = 7200;
  refreshSeconds = 3600;
  header: Record<string, unknown> = {};
  readonly calls: string[] = [];
  readonly #server = new Server();

  private constructor(keys: SignerKey[]) {
    this.keys = keys;
  }

  /** Resolves when it listens. */
  static async start(socket: string, version: 'v1' | 'v1alpha1' = 'v1'): Promise<TokenSigner> {
    const signer = new TokenSigner([newSignerKey('one')]);
    const root = messages(version);
    const methods: Record<string, (request: Record<string, string>) => object> = {
      Sign: ({ claims = '' }) => signer.#sign(claims),
      FetchKeys: () => ({
        keys: signer.keys.map(({ id, publicKey, hidden }) => ({
          key_id: id,
          key: publicKey.export({ type: 'spki', format: 'der' }),
          exclude_from_oidc_discovery: hidden,
        })),
        data_timestamp: { seconds: 1 },
        refresh_hint_seconds: signer.refreshSeconds,
      }),
      Metadata: () => ({ max_token_expiration_seconds: signer.maxExpirationSeconds }),
    };
    for (const [name, answer] of Object.entries(methods)) {
      const of = name === 'Sign' ? 'SignJWT' : name;
      const request = root.lookupType(`${version}.${of}Request`);
      const response = root.lookupType(`${version}.${of}Response`);
      const handle: handleUnaryCall<Record<string, string>, object> = (call, callback) => {
        signer.calls.push(name);
        callback(null, answer(call.request));
      };
      signer.#server.addService(
        {
          [name]: {
            path: `/${version}.ExternalJWTSigner/${name}`,
            ...{ requestStream: false, responseStream: false },
            requestSerialize: (value: object) => Buffer.from(request.encode(value).finish()),
            requestDeserialize: (bytes: Buffer) =>
              request.toObject(request.decode(bytes)) as Record<string, string>,
            responseSerialize: (value: object) =>
              Buffer.from(response.encode(response.create(value)).finish()),
            responseDeserialize: (bytes: Buffer) => response.decode(bytes),
          },
        },
        { [name]: handle },
      );
    }
    await new Promise<void>((resolve, reject) => {
      signer.#server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) =>
        error === null ? resolve() : reject(error),
      );
    });
    return signer;
  }

  #sign(claims: string): object {
    const key = this.keys.at(-1);
    if (key === undefined) throw new Error('there is no key');
    const fields = { alg: 'ES256', kid: key.id, typ: 'JWT', ...this.header };
    const header = Buffer.from(JSON.stringify(fields)).toString('base64url');
    const signature = sign('sha256', Buffer.from(`${header}.${claims}`), {
      key: key.privateKey,
      dsaEncoding: 'ieee-p1363',
    });
    return { header, signature: signature.toString('base64url') };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.forceShutdown();
  }
}
