import { randomUUID } from 'node:crypto';
import type { Client } from '@grpc/grpc-js';
import { EncodingUnavailable } from '../object-encoding.ts';
import type { KmsConfig } from './config.ts';
import {
  decodeDecryptResponse,
  decodeEncryptResponse,
  decodeStatus,
  type EncryptedSeed,
  encodeDecryptRequest,
  encodeEncryptRequest,
  type KmsStatus,
} from './kms-messages.ts';
import { EncryptionMetrics } from './metrics.ts';

/** A KMS plugin, by API v2. @throws EncodingUnavailable that names the plugin and what is wrong */
export interface KmsClient {
  status(): Promise<KmsStatus>;
  encrypt(plaintext: Uint8Array): Promise<EncryptedSeed>;
  decrypt(seed: EncryptedSeed): Promise<Uint8Array>;
  close(): void;
}

type Method = 'Status' | 'Encrypt' | 'Decrypt';

const SERVICE = '/v2.KeyManagementService';
/** Reconnects fast, to notice soon that a plugin is back. */
const CHANNEL = {
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1000,
};
const NOTHING = Buffer.alloc(0);

/** Calls over a Unix socket; the library reconnects when needed. */
export class GrpcKmsClient implements KmsClient {
  readonly #config: KmsConfig;
  readonly #metrics: EncryptionMetrics;
  #client: Promise<Client> | undefined;

  constructor(config: KmsConfig, metrics = new EncryptionMetrics()) {
    this.#config = config;
    this.#metrics = metrics;
  }

  async status(): Promise<KmsStatus> {
    return decodeStatus(await this.#call('Status', NOTHING));
  }

  async encrypt(plaintext: Uint8Array): Promise<EncryptedSeed> {
    const request = encodeEncryptRequest({ plaintext, uid: randomUUID() });
    return decodeEncryptResponse(await this.#call('Encrypt', request));
  }

  async decrypt(seed: EncryptedSeed): Promise<Uint8Array> {
    const request = encodeDecryptRequest({ ...seed, uid: randomUUID() });
    return decodeDecryptResponse(await this.#call('Decrypt', request));
  }

  close(): void {
    this.#client?.then((client) => client.close()).catch(() => {});
  }

  async #call(method: Method, request: Buffer): Promise<Buffer> {
    const { name, timeoutMs } = this.#config;
    this.#client ??= this.#connect();
    const client = await this.#client;
    const path = `${SERVICE}/${method}`;
    const begunMs = performance.now();
    return new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        path,
        (bytes: Buffer) => bytes,
        (bytes: Buffer) => bytes,
        request,
        { deadline: Date.now() + timeoutMs },
        (error, answer) => {
          this.#metrics.called(name, path, performance.now() - begunMs, error);
          if (error === null && answer !== undefined) resolve(answer);
          else
            reject(
              new EncodingUnavailable(
                `the KMS plugin ${name} does not ${method.toLowerCase()}: ${error?.message ?? 'no answer'}`,
                {
                  cause: error,
                },
              ),
            );
        },
      );
    });
  }

  /** Loads the library, which servers without a plugin do not need. */
  async #connect(): Promise<Client> {
    const { Client, credentials } = await import('@grpc/grpc-js');
    const { socket } = this.#config;
    const target = socket.startsWith('\0') ? `unix-abstract:${socket.slice(1)}` : `unix:${socket}`;
    return new Client(target, credentials.createInsecure(), CHANNEL);
  }
}
