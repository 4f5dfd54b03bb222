import type { ResourceOf } from '../api/names.ts';
import type { ApiObject } from '../api/object-meta.ts';
import type { APIService } from '../api/types/apiregistration/v1.ts';
import { type Finding, withCondition } from '../object/conditions.ts';
import { Numbers } from '../observability/instruments.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Entry } from '../storage/store.ts';
import { aborted, keepDoing, pause, pauseAfter } from '../util/pause.ts';
import type { Client } from '../verbs/client/client.ts';
import { toTimestamp } from '../verbs/writing/object-metadata.ts';
import { API_SERVICES, isAvailable, toRemoteVersion } from './api-service.ts';
import { type CheckParts, checkAvailability } from './availability-check.ts';
import type { RemoteVersions } from './remote-versions.ts';
import { ENDPOINT_SLICES, ENDPOINTS, SERVICE_NAME, SERVICES } from './service-resolver.ts';

export interface AvailabilityParts extends CheckParts {
  readonly client: Client;
  readonly remote: RemoteVersions;
  readonly metrics: Metrics;
  readonly now: () => Date;
  readonly onError: (error: unknown) => void;
}

/** A server that answers is asked again so often: it may have gone without a word. */
const CHECK_EVERY_MS = 30_000;
/** One that does not is asked again soon, because it may just be starting. */
const BACKOFF = { firstMs: 200, longestMs: CHECK_EVERY_MS };
const RETRY_MS = 1000;

/**
 * Finds out which of the other servers can be reached, and writes it into the status of their API services. Each server of the
 * cluster does so, because each of them calls the others; a status that is written already is not written again.
 */
export class Availability {
  readonly #parts: AvailabilityParts;
  readonly #client: Client;
  readonly #lost: Numbers;
  /** By name of the API service. */
  readonly #checks = new Map<string, RepeatedCheck>();
  /** Follows services and endpoints, while there is anything to check. */
  #following: AbortController | undefined;

  constructor(parts: AvailabilityParts) {
    this.#parts = parts;
    this.#client = parts.client.as('kube-aggregator');
    this.#lost = parts.metrics.add(createLost());
    parts.metrics.add(createGauge(parts.remote));
  }

  async run(signal: AbortSignal): Promise<void> {
    const stop = this.#parts.remote.onChange(() => this.#settle());
    this.#settle();
    await aborted(signal);
    stop();
    for (const check of this.#checks.values()) check.end();
    this.#checks.clear();
    this.#following?.abort();
    this.#following = undefined;
  }

  /** Begins and ends checks, so that there is one for each group version of another server. */
  #settle(): void {
    const { remote } = this.#parts;
    for (const [name, check] of this.#checks) {
      if (remote.named(name)?.server === check.server) continue;
      check.end();
      this.#checks.delete(name);
    }
    for (const { name, server } of remote.all()) {
      if (this.#checks.has(name)) continue;
      const check = new RepeatedCheck(server, (signal) => this.#check(name, signal));
      this.#checks.set(name, check);
      void check.run();
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
    for (const [name, check] of this.#checks) {
      const found = this.#parts.remote.named(name)?.service;
      if (found?.name === service && found.namespace === namespace) check.hurry();
    }
  }

  /** Answers how long nothing need be done; never rejects. */
  async #check(name: string, signal: AbortSignal): Promise<'well' | 'missing' | 'failed'> {
    const { remote, onError } = this.#parts;
    try {
      const found = remote.named(name);
      if (found === undefined) return 'missing';
      const finding = await checkAvailability(this.#parts, found, signal);
      if (signal.aborted) return 'missing';
      await this.#say(name, found.server, finding);
      if (finding.status === 'True') return 'well';
      return finding.reason === 'FailedDiscoveryCheck' ? 'failed' : 'missing';
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
      // What was found out is not said of another server, which the object may have been changed to meanwhile.
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

/** One check, again and again until it is ended. */
class RepeatedCheck {
  readonly server: string;
  readonly #check: (signal: AbortSignal) => Promise<'well' | 'missing' | 'failed'>;
  readonly #stop = new AbortController();
  #isDue = false;
  #wake = new AbortController();

  constructor(server: string, check: (signal: AbortSignal) => Promise<'well' | 'missing' | 'failed'>) {
    this.server = server;
    this.#check = check;
  }

  end(): void {
    this.#stop.abort();
    this.#wake.abort();
  }

  /** Something has changed: it is checked again now, or after the check under way. */
  hurry(): void {
    this.#isDue = true;
    this.#wake.abort();
  }

  async run(): Promise<void> {
    const { signal } = this.#stop;
    for (let failures = 0; !signal.aborted; ) {
      this.#isDue = false;
      const result = await this.#check(signal);
      failures = result === 'failed' ? failures + 1 : 0;
      if (this.#isDue || signal.aborted) continue;
      this.#wake = new AbortController();
      await pause(failures > 0 ? pauseAfter(failures, BACKOFF) : CHECK_EVERY_MS, this.#wake.signal);
    }
  }
}
