import { createHash, randomUUID } from 'node:crypto';
import { LEASES } from '../api/known-resources.ts';
import type { Lease } from '../api/types/coordination/v1.ts';
import { toMicroTime } from '../object/timestamps.ts';
import { pause, repeat } from '../util/pause.ts';
import type { Client } from '../verbs/client/client.ts';

export const IDENTITY_LABEL = 'apiserver.kubernetes.io/identity';
export const IDENTITY = 'kube-apiserver';
export const IDENTITY_NAMESPACE = 'kube-system';

/** Kubernetes' figures (pkg/controlplane): a server is forgotten an hour after its last renewal. */
const LEASE_SECONDS = 3600;
const RENEW_MS = 10_000;
/** The port that Kubernetes' servers have, one on each host. */
const USUAL_PORT = 6443;

/**
 * The name of a server within its cluster: `apiserver-` and a hash of the host name, as in Kubernetes. A server on an unusual
 * port may share its host, so its port is hashed too.
 */
export function serverIdentity(hostname: string, port: number): string {
  const host = port === USUAL_PORT ? hostname : `${hostname}:${port}`;
  const hash = createHash('sha256').update(prefixed(host)).update(prefixed(IDENTITY)).digest();
  return `apiserver-${toBase32(hash.subarray(0, 16))}`;
}

/** A text, preceded by its length in two bytes. */
function prefixed(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** RFC 4648, in lower case and without padding. */
function toBase32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const fives = bits.match(/.{1,5}/g) ?? [];
  return fives.map((five) => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)]).join('');
}

/**
 * Maintains a lease in kube-system that shows this server (the feature APIServerIdentity). The lease stays when the server
 * ends: a restart has the same name, and a host that is gone is forgotten when the lease expires.
 */
export class ServerIdentity {
  readonly #client: Client;
  readonly #name: string;
  readonly #hostname: string;
  readonly #now: () => Date;
  readonly #onError: (error: unknown) => void;
  /** Unique per start. */
  readonly #holder: string;

  constructor(options: {
    readonly client: Client;
    readonly name: string;
    readonly hostname: string;
    readonly now: () => Date;
    readonly onError: (error: unknown) => void;
  }) {
    this.#client = options.client.as('kube-apiserver');
    this.#name = options.name;
    this.#hostname = options.hostname;
    this.#now = options.now;
    this.#onError = options.onError;
    this.#holder = `${options.name}_${randomUUID()}`;
  }

  /** Creates the lease, or renews it. @throws StatusError, StorageError */
  async renew(): Promise<void> {
    const lease: Lease = {
      kind: 'Lease',
      apiVersion: 'coordination.k8s.io/v1',
      metadata: { name: this.#name, namespace: IDENTITY_NAMESPACE },
    };
    const mend = (current: Lease): Lease => this.#renewed(current);
    await this.#client.ensure(LEASES, mend(lease), { mend, trust: 'cached-if-found' });
  }

  async run(signal: AbortSignal): Promise<void> {
    await pause(RENEW_MS, signal);
    await repeat(() => this.renew(), signal, { everyMs: RENEW_MS, onError: this.#onError });
  }

  #renewed({ metadata, spec, ...lease }: Lease): Lease {
    const labels = {
      ...metadata.labels,
      [IDENTITY_LABEL]: IDENTITY,
      'kubernetes.io/hostname': this.#hostname,
    };
    return {
      ...lease,
      metadata: { ...metadata, labels },
      spec: {
        ...spec,
        holderIdentity: this.#holder,
        leaseDurationSeconds: LEASE_SECONDS,
        renewTime: toMicroTime(this.#now()),
      },
    };
  }
}
