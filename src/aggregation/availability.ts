import { ENDPOINTS, SERVICES } from '../api/known-resources.ts';
import type { ResourceOf } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import type { APIService } from '../api/types/apiregistration/v1.ts';
import { type Finding, withCondition } from '../object/conditions.ts';
import { toTimestamp } from '../object/timestamps.ts';
import { Numbers } from '../observability/instruments.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Entry } from '../storage/store.ts';
import { aborted, keepDoing } from '../util/pause.ts';
import { AS_SERVER, type Client } from '../verbs/client/client.ts';
import { type CheckParts, checkAvailability } from './availability-check.ts';
import { API_SERVICES, isAvailable, toRemoteVersion } from './managed-api-services.ts';
import type { RemoteVersions } from './remote-versions.ts';
import { type Outcome, Repeated } from './repeated.ts';
import { ENDPOINT_SLICES, SERVICE_NAME } from './service-resolver.ts';

interface AvailabilityParts extends CheckParts {
  readonly client: Client;
  readonly remote: RemoteVersions;
  readonly metrics: Metrics;
  readonly now: () => Date;
  readonly onError: (error: unknown) => void;
}

/**
 * An available server is checked every half minute, because it may fail silently; an unavailable one soon, because it may be
 * starting.
 */
const PACE = { everyMs: 30_000, backoff: { firstMs: 200, longestMs: 30_000 } };
const RETRY_MS = 1000;

/**
 * Checks which other servers are reachable, and writes the status of their API services. Each server of the cluster does so,
 * because each of them calls the others; an equal status is not written again.
 */
export class Availability {
  readonly #parts: AvailabilityParts;
  readonly #client: Client;
  readonly #lost: Numbers;
  /** By name of the API service. */
  readonly #checks = new Map<string, { readonly server: string; readonly repeated: Repeated }>();
  /** Follows services and endpoints, while there are checks. */
  #following: AbortController | undefined;

  constructor(parts: AvailabilityParts) {
    this.#parts = parts;
    this.#client = parts.client.as('kube-aggregator', AS_SERVER);
    this.#lost = parts.metrics.add(createLost());
    parts.metrics.add(createGauge(parts.remote));
  }

  async run(signal: AbortSignal): Promise<void> {
    const stop = this.#parts.remote.onChange(() => this.#settle());
    this.#settle();
    await aborted(signal);
    stop();
    for (const { repeated } of this.#checks.values()) repeated.end();
    this.#checks.clear();
    this.#following?.abort();
    this.#following = undefined;
  }

  /** Begins and ends checks, so that each group version of another server has one. */
  #settle(): void {
    const { remote } = this.#parts;
    for (const [name, check] of this.#checks) {
      if (remote.named(name)?.server === check.server) continue;
      check.repeated.end();
      this.#checks.delete(name);
    }
    for (const { name, server, isChecked } of remote.all()) {
      const known = this.#checks.get(name);
      // Another writer dropped the condition. One that contradicts this server's may be right for its writer, and stays for a while.
      if (known !== undefined && !isChecked) known.repeated.hurry();
      if (known !== undefined) continue;
      const repeated = new Repeated((signal) => this.#check(name, signal), PACE);
      this.#checks.set(name, { server, repeated });
      repeated.begin();
    }
    this.#follow();
  }

  #follow(): void {
    const isNeeded = this.#checks.size > 0;
    if (isNeeded === (this.#following !== undefined)) return;
    this.#following?.abort();
    this.#following = isNeeded ? new AbortController() : undefined;
    const signal = this.#following?.signal;
    if (signal === undefined) return;
    this.#watch(SERVICES, ({ name }) => name, signal);
    this.#watch(ENDPOINTS, ({ name }) => name, signal);
    this.#watch(ENDPOINT_SLICES, ({ labels }) => labels[SERVICE_NAME] ?? '', signal);
  }

  #watch(resource: ResourceOf<ApiObject>, serviceOf: (entry: Entry) => string, signal: AbortSignal): void {
    const { onError } = this.#parts;
    const follow = async (): Promise<void> => {
      for await (const { entry } of this.#client.watch(resource, signal))
        this.#lookAt(entry.namespace, serviceOf(entry));
    };
    void keepDoing(follow, signal, { retryMs: RETRY_MS, onError });
  }

  #lookAt(namespace: string, service: string): void {
    for (const [name, { repeated }] of this.#checks) {
      const found = this.#parts.remote.named(name)?.service;
      if (found?.name === service && found.namespace === namespace) repeated.hurry();
    }
  }

  /** Objects that are missing are not rechecked soon, because changes to them wake the check. Never rejects. */
  async #check(name: string, signal: AbortSignal): Promise<Outcome> {
    const { remote, onError } = this.#parts;
    try {
      const found = remote.named(name);
      if (found === undefined) return 'well';
      const finding = await checkAvailability(this.#parts, found, signal);
      if (signal.aborted) return 'well';
      await this.#say(name, found.server, finding);
      return finding.reason === 'FailedDiscoveryCheck' ? 'failed' : 'well';
    } catch (error) {
      if (!signal.aborted) onError(error);
      return 'failed';
    }
  }

  async #say(name: string, server: string, finding: Finding): Promise<void> {
    const time = toTimestamp(this.#parts.now());
    const says = (api: APIService): APIService => {
      const conditions = api.status?.conditions ?? [];
      const said = withCondition(conditions, finding, time);
      // The object may name another server meanwhile, to which the result does not apply.
      const isOther = toRemoteVersion(api)?.server !== server;
      return said === conditions || isOther
        ? api
        : { ...api, status: { ...api.status, conditions: [...said] } };
    };
    const cached = await this.#client.get(API_SERVICES, { name }, 'cached');
    if (cached === undefined || says(cached) === cached) return;
    const target = { name, subresource: 'status' };
    await this.#client.updateState(API_SERVICES, target, says, { leavesCopy: true });
    if (isAvailable(cached) && finding.status !== 'True') this.#lost.at(name, finding.reason).add();
  }
}

const createLost = (): Numbers =>
  new Numbers('counter', {
    name: 'aggregator_unavailable_apiservice_total',
    help: 'API services that became unavailable, by name and reason.',
    labels: ['name', 'reason'],
  });

const createGauge = (remote: Pick<RemoteVersions, 'availability'>): Numbers =>
  new Numbers(
    'gauge',
    {
      name: 'aggregator_unavailable_apiservice',
      help: '1 for API services that are unavailable, by name.',
      labels: ['name'],
    },
    (numbers) => {
      numbers.clear();
      for (const [name, available] of remote.availability()) numbers.at(name).value = available ? 0 : 1;
    },
  );
