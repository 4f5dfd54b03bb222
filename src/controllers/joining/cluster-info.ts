import { createHmac } from 'node:crypto';
import { CONFIG_MAPS, SECRETS } from '../../api/known-resources.ts';
import type { ConfigMap, Secret } from '../../api/types/core/v1.ts';
import { readBootstrapToken, TOKEN_NAMESPACE } from '../../authn/bootstrap-token.ts';
import { equal } from '../../object/equality.ts';
import { toObject } from '../../storage/object-reader.ts';
import type { Entry } from '../../storage/store.ts';
import { runTogether } from '../../util/concurrency.ts';
import { keepDoing, Rest } from '../../util/pause.ts';
import type { Client } from '../../verbs/client/client.ts';

const CLUSTER_INFO = { namespace: 'kube-public', name: 'cluster-info' };
const TOKEN_NAME = /^bootstrap-token-([a-z0-9]{6})$/;
const SIGNATURE_PREFIX = 'jws-kubeconfig-';

const RETRY_MS = 5000;
/** The pauses between two looks: changes that come together share one; a minute later it looks in any case. */
const PAUSES = { leastMs: 100, mostMs: 60_000 };

const isClusterInfo = ({ namespace, name }: Entry): boolean =>
  namespace === CLUSTER_INFO.namespace && name === CLUSTER_INFO.name;

const isToken = ({ namespace, name }: Entry): boolean =>
  namespace === TOKEN_NAMESPACE && TOKEN_NAME.test(name);

/**
 * Signs the kubeconfig in the config map kube-public/cluster-info with each bootstrap token, so that a node that knows a token
 * can trust what it reads there before it knows the cluster's authority (Kubernetes: pkg/controller/bootstrap). Makes no config
 * map of its own.
 */
export class ClusterInfoSigning {
  readonly #client: Client;
  readonly #now: () => Date;
  readonly #onError: (error: unknown) => void;

  constructor(options: {
    readonly client: Client;
    readonly now: () => Date;
    readonly onError: (error: unknown) => void;
  }) {
    this.#client = options.client.as('bootstrap-signer');
    this.#now = options.now;
    this.#onError = options.onError;
  }

  async run(signal: AbortSignal): Promise<void> {
    const retry = { retryMs: RETRY_MS, onError: this.#onError };
    await keepDoing(() => this.#follow(signal), signal, retry);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const rest = new Rest();
    await runTogether(
      [
        async (either) => {
          for await (const _ of this.#client.watch(SECRETS, either, isToken)) rest.cutShort();
        },
        async (either) => {
          for await (const _ of this.#client.watch(CONFIG_MAPS, either, isClusterInfo)) rest.cutShort();
        },
        async (either) => {
          while (!either.aborted) {
            await this.sign();
            await rest.take(PAUSES, either);
          }
        },
      ],
      signal,
    );
  }

  /** One look. @throws StatusError, StorageError */
  async sign(): Promise<void> {
    const map = await this.#client.get(CONFIG_MAPS, CLUSTER_INFO);
    if (map === undefined) return;
    const tokens = await this.#tokens();
    if (equal(withSignatures(map, tokens), map)) return;
    await this.#client.update(CONFIG_MAPS, CLUSTER_INFO, (copy) => withSignatures(copy, tokens));
  }

  /** Secrets of tokens for signing, by their ids. */
  async #tokens(): Promise<Map<string, string>> {
    const nowMs = this.#now().getTime();
    const tokens = new Map<string, string>();
    for (const entry of await this.#client.entries(SECRETS, { namespace: TOKEN_NAMESPACE })) {
      const [, id] = TOKEN_NAME.exec(entry.name) ?? [];
      if (id === undefined) continue;
      const token = readBootstrapToken(toObject<Secret>(entry), 'signing', nowMs);
      if (token?.id === id && token.secret !== '') tokens.set(id, token.secret);
    }
    return tokens;
  }
}

/** Returns the map with the signatures of these tokens and no others. A map without a kubeconfig stays as it is. */
function withSignatures(map: ConfigMap, tokens: ReadonlyMap<string, string>): ConfigMap {
  const { kubeconfig } = map.data ?? {};
  if (typeof kubeconfig !== 'string') return map;
  const others = Object.entries(map.data ?? {}).filter(([key]) => !key.startsWith(SIGNATURE_PREFIX));
  const signatures = [...tokens].map(([id, secret]): [string, string] => [
    `${SIGNATURE_PREFIX}${id}`,
    signDetached(kubeconfig, id, secret),
  ]);
  return { ...map, data: Object.fromEntries([...others, ...signatures]) };
}

/**
 * A JWS without its content (RFC 7515, appendix F). Clients compare it as a text with their own, so the header must be the one
 * that Kubernetes writes, to the byte.
 *
 *     signDetached('hello', 'abcdef', '0123456789abcdef') → 'eyJhbGciOiJIUzI1NiIsImtpZCI6ImFiY2RlZiJ9..Uyw…'
 */
export function signDetached(content: string, id: string, secret: string): string {
  const header = Buffer.from(JSON.stringify({ alg: 'HS256', kid: id })).toString('base64url');
  const payload = Buffer.from(content).toString('base64url');
  const signature = createHmac('sha256', secret).update(`${header}.${payload}`).digest('base64url');
  return `${header}..${signature}`;
}
