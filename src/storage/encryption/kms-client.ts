import { randomUUID } from 'node:crypto';
import type { ServiceError } from '@grpc/grpc-js';
import { GrpcSocket } from '../../outbound/grpc-socket.ts';
import { errorText } from '../../util/error-text.ts';
import { EncodingUnavailable } from '../object-encoding.ts';
import type { KmsConfig } from './encryption-config.ts';
import { EncryptionMetrics } from './encryption-metrics.ts';
import {
  decodeDecryptResponse,
  decodeEncryptResponse,
  decodeStatus,
  type EncryptedSeed,
  encodeDecryptRequest,
  encodeEncryptRequest,
  type KmsStatus,
} from './kms-messages.ts';

/** A KMS plugin, by API v2. @throws EncodingUnavailable that names the plugin and what is wrong */
export interface KmsClient {
  status(): Promise<KmsStatus>;
  encrypt(plaintext: Uint8Array): Promise<EncryptedSeed>;
  decrypt(seed: EncryptedSeed): Promise<Uint8Array>;
  close(): void;
}

type Method = 'Status' | 'Encrypt' | 'Decrypt';

const SERVICE = '/v2.KeyManagementService';
const NOTHING = Buffer.alloc(0);

export class GrpcKmsClient implements KmsClient {
  readonly #config: KmsConfig;
  readonly #metrics: EncryptionMetrics;
  readonly #grpc: GrpcSocket;

  constructor(config: KmsConfig, metrics = new EncryptionMetrics()) {
    this.#config = config;
    this.#grpc = new GrpcSocket(config.socket);
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
    this.#grpc.close();
  }

  async #call(method: Method, request: Buffer): Promise<Buffer> {
    const { name, timeoutMs } = this.#config;
    const path = `${SERVICE}/${method}`;
    const begunMs = performance.now();
    const note = (error: ServiceError | null): void =>
      this.#metrics.called(name, path, performance.now() - begunMs, error);
    try {
      const answer = await this.#grpc.call(path, request, { timeoutMs });
      note(null);
      return answer;
    } catch (error) {
      note(error as ServiceError);
      const why = errorText(error);
      throw new EncodingUnavailable(`the KMS plugin ${name} does not ${method.toLowerCase()}: ${why}`, {
        cause: error,
      });
    }
  }
}
