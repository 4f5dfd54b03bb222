import { DEFAULT_MINOR } from '../version.ts';
import { type Cell, type Distribution, exponential, Histogram, Numbers } from './instruments.ts';
import type { Metrics } from './metrics.ts';

/** The labels of a kind of request. Every label has few values, for any request. */
export interface RequestKind {
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly scope: string;
  readonly dryRun: string;
}

const COMPONENT = 'apiserver';
/** Kubernetes' buckets, so that its dashboards work. */
const SECONDS = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const WATCH_LIST_SECONDS = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60];
const BASE = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'] as const;

/** Children of one kind of request with one code, looked up together. */
interface RequestChildren {
  readonly total: Cell;
  readonly seconds: Distribution;
  /** Excludes the time that the request waited for others. */
  readonly ownSeconds: readonly Distribution[];
  readonly sizes: Distribution;
}

interface Answered {
  /** Undefined for a long-running request. */
  readonly seconds: number | undefined;
  readonly sizeBytes: number | undefined;
  readonly waitedMs: number;
}

/** Metrics of requests, with the names and labels that Kubernetes' dashboards use. */
export class RequestMetrics {
  readonly #total: Numbers;
  readonly #seconds: Histogram;
  readonly #sliSeconds: Histogram;
  readonly #sloSeconds: Histogram;
  readonly #sizes: Histogram;
  readonly #longRunning: Numbers;
  readonly #watchEvents: Numbers;
  readonly #watchSizes: Histogram;
  readonly #watchLists: Histogram;
  readonly #byResource: boolean;
  readonly #terminations: Numbers;
  readonly #aborts: Numbers;
  readonly #handshakeErrors: Numbers;
  readonly #deprecated: Numbers;
  readonly #children = new Map<string, RequestChildren>();
  readonly mutating: Peak;
  readonly readOnly: Peak;

  constructor(metrics: Metrics, minor: number = DEFAULT_MINOR) {
    const counter = (name: string, help: string, labels: readonly string[] = []): Numbers =>
      metrics.add(new Numbers('counter', { name, help, labels }));
    this.#total = counter('apiserver_request_total', 'Requests by verb, resource and response code.', [
      'verb',
      'dry_run',
      ...BASE.slice(1),
      'code',
    ]);
    const seconds = (name: string, help: string, labels: readonly string[], deprecated?: string): Histogram =>
      metrics.add(
        new Histogram({ name, help, labels, hidden: deprecated !== undefined, deprecated }, SECONDS),
      );
    this.#seconds = seconds(
      'apiserver_request_duration_seconds',
      'Time from the arrival of a request to its response. Long-running requests are not counted.',
      ['verb', 'dry_run', ...BASE.slice(1)],
    );
    const without = 'Time of a request without what it waited for webhooks and its turn.';
    this.#sliSeconds = seconds('apiserver_request_sli_duration_seconds', without, BASE);
    this.#sloSeconds = seconds('apiserver_request_slo_duration_seconds', without, BASE, '1.27.0');
    this.#sizes = metrics.add(
      new Histogram(
        { name: 'apiserver_response_sizes', help: 'Sizes of responses in bytes.', labels: BASE },
        exponential(1000, 10, 7),
      ),
    );
    this.#longRunning = metrics.add(
      new Numbers('gauge', {
        name: 'apiserver_longrunning_requests',
        help: 'Long-running requests being served: watches, logs, connections.',
        labels: BASE,
      }),
    );
    this.#byResource = minor >= 34;
    const kind = ['group', 'version', this.#byResource ? 'resource' : 'kind'];
    this.#watchEvents = counter('apiserver_watch_events_total', 'Events sent to watches.', kind);
    this.#watchSizes = metrics.add(
      new Histogram(
        { name: 'apiserver_watch_events_sizes', help: 'Sizes of watch events in bytes.', labels: kind },
        exponential(1024, 2, 8),
      ),
    );
    this.#watchLists = metrics.add(
      new Histogram(
        {
          name: 'apiserver_watch_list_duration_seconds',
          help: 'Time from the arrival of a streaming list until its state was sent.',
          labels: ['group', 'version', 'resource', 'scope'],
        },
        WATCH_LIST_SECONDS,
      ),
    );
    this.#terminations = counter(
      'apiserver_request_terminations_total',
      'Requests the server ended in self-defense.',
      [...BASE, 'code'],
    );
    this.#aborts = counter(
      'apiserver_request_aborts_total',
      'Requests whose client went away.',
      BASE.slice(0, 6),
    );
    this.#handshakeErrors = counter('apiserver_tls_handshake_errors_total', 'TLS handshakes that failed.');
    this.#deprecated = metrics.add(
      new Numbers('gauge', {
        name: 'apiserver_requested_deprecated_apis',
        help: 'Always 1, with deprecated APIs that were asked for, and the release that serves them no more.',
        labels: ['group', 'version', 'resource', 'subresource', 'removed_release'],
      }),
    );
    this.mutating = new Peak();
    this.readOnly = new Peak();
    metrics.add(this.#inflight());
  }

  #inflight(): Numbers {
    const init = {
      name: 'apiserver_current_inflight_requests',
      help: 'Requests being served, the most at once in the last second, long-running ones left out.',
      labels: ['request_kind'],
    };
    return new Numbers('gauge', init, (numbers) => {
      numbers.at('mutating').value = this.mutating.highest();
      numbers.at('readOnly').value = this.readOnly.highest();
    });
  }

  /** A request was answered. `sizeBytes` is undefined for a stream. `waitedMs`: for webhooks and its turn. */
  answered(kind: RequestKind, code: number, { seconds, sizeBytes, waitedMs }: Answered): void {
    const children = this.#childrenOf(kind, code);
    children.total.add();
    if (seconds !== undefined) {
      children.seconds.observe(seconds);
      for (const child of children.ownSeconds) child.observe(seconds - waitedMs / 1000);
    }
    if (sizeBytes !== undefined) children.sizes.observe(sizeBytes);
  }

  /** A deprecated API was asked for. `removedRelease`: `1.36`; empty where none is known. */
  deprecated({ group, version, resource, subresource }: RequestKind, removedRelease: string): void {
    this.#deprecated.at(group, version, resource, subresource, removedRelease).value = 1;
  }

  longRunning(kind: RequestKind): Cell {
    return this.#longRunning.at(...base(kind));
  }

  /** The counters of one watch's events, which go by the resource since 1.34, and by its kind before. */
  watchEvents({ group, version, resource }: RequestKind, kind: string): { total: Cell; sizes: Distribution } {
    const what = this.#byResource ? resource : kind;
    return {
      total: this.#watchEvents.at(group, version, what),
      sizes: this.#watchSizes.at(group, version, what),
    };
  }

  /** A streaming list has sent its state. */
  listed({ group, version, resource, scope }: RequestKind, seconds: number): void {
    this.#watchLists.at(group, version, resource, scope).observe(seconds);
  }

  terminated(kind: RequestKind, code: number): void {
    this.#terminations.at(...base(kind), String(code)).add();
  }

  aborted(kind: RequestKind): void {
    this.#aborts.at(...base(kind).slice(0, 6)).add();
  }

  handshakeFailed(): void {
    this.#handshakeErrors.at().add();
  }

  #childrenOf(kind: RequestKind, code: number): RequestChildren {
    const { verb, dryRun, group, version, resource, subresource, scope } = kind;
    const key = `${verb} ${dryRun} ${group} ${version} ${resource} ${subresource} ${scope} ${code}`;
    const known = this.#children.get(key);
    if (known !== undefined) return known;
    const labels = base(kind);
    const [, ...rest] = labels;
    const children = {
      total: this.#total.at(verb, dryRun, ...rest, String(code)),
      seconds: this.#seconds.at(verb, dryRun, ...rest),
      ownSeconds: [this.#sliSeconds.at(...labels), this.#sloSeconds.at(...labels)],
      sizes: this.#sizes.at(...labels),
    };
    this.#children.set(key, children);
    return children;
  }
}

const base = ({ verb, group, version, resource, subresource, scope }: RequestKind): string[] => [
  verb,
  group,
  version,
  resource,
  subresource,
  scope,
  COMPONENT,
];

/** The current number of requests, and the peak of the last whole second, because scrapes every half minute miss bursts. */
export class Peak {
  #now = 0;
  #highest = 0;
  #before = 0;
  #second = 0;

  begin(): void {
    this.#turn();
    this.#now += 1;
    if (this.#now > this.#highest) this.#highest = this.#now;
  }

  end(): void {
    this.#now -= 1;
  }

  highest(): number {
    this.#turn();
    return Math.max(this.#before, this.#highest);
  }

  #turn(): void {
    const second = Math.trunc(performance.now() / 1000);
    if (second === this.#second) return;
    this.#before = second === this.#second + 1 ? this.#highest : this.#now;
    this.#second = second;
    this.#highest = this.#now;
  }
}
