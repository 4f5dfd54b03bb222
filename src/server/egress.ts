import type { Socket } from 'node:net';
import { Histogram, Numbers } from '../observability/instruments.ts';
import type { Metrics } from '../observability/metrics.ts';
import { createDial, type Dial, type DialObserver } from '../outbound/egress/dial.ts';
import type { EgressConfig, EgressName } from '../outbound/egress/egress-config.ts';
import { SocketRelay } from '../outbound/egress/socket-relay.ts';
import { createHttpsGet } from '../outbound/http-client.ts';
import type { CreateGet } from '../outbound/shared-documents.ts';

/** The ways by which connections leave this server (--egress-selector-config-file). */
export interface Egress {
  /** Undefined: directly. */
  readonly dials: Readonly<Record<EgressName, Dial | undefined>>;
  /** Makes a socket of PostgreSQL's driver go by the way to the store. Undefined: directly. */
  readonly reroute: (<S extends Socket>(socket: S) => S) | undefined;
  /** The way to documents of other servers. */
  readonly createGet: CreateGet;
  addTo(metrics: Metrics): void;
  close(): void;
}

/** `config` is undefined without the flag. */
export function createEgress(config: EgressConfig | undefined): Egress {
  const metrics = new EgressMetrics();
  const dialOf = (name: EgressName): Dial | undefined => createDial(config?.get(name), metrics);
  const dials = {
    cluster: dialOf('cluster'),
    controlplane: dialOf('controlplane'),
    kvstore: dialOf('kvstore'),
  };
  const relay = dials.kvstore === undefined ? undefined : new SocketRelay(dials.kvstore);
  return {
    dials,
    reroute: relay?.reroute,
    createGet: ({ ca, egress }) => {
      if (egress !== undefined && config?.get(egress) === undefined)
        throw new Error(`there is no egress selection ${JSON.stringify(egress)}`);
      return createHttpsGet(ca, egress === undefined ? undefined : dials[egress]);
    },
    addTo: (all) => {
      if (config !== undefined) metrics.addTo(all);
    },
    close: () => relay?.close(),
  };
}

/** Names and buckets are Kubernetes' (apiserver, pkg/server/egressselector/metrics). */
class EgressMetrics implements DialObserver {
  readonly #starts = new Numbers('counter', {
    name: 'apiserver_egress_dialer_dial_start_total',
    help: 'Connections begun by way of a proxy.',
    labels: ['protocol', 'transport'],
  });
  readonly #durations = new Histogram(
    {
      name: 'apiserver_egress_dialer_dial_duration_seconds',
      help: 'How long connections by way of a proxy take to open, in seconds.',
      labels: ['protocol', 'transport'],
    },
    [0.005, 0.025, 0.1, 0.5, 2.5, 12.5],
  );
  readonly #failures = new Numbers('counter', {
    name: 'apiserver_egress_dialer_dial_failure_count',
    help: 'Connections by way of a proxy that failed: before the proxy (connect) or behind it (proxy).',
    labels: ['protocol', 'transport', 'stage'],
  });

  addTo(metrics: Metrics): void {
    metrics.add(this.#starts);
    metrics.add(this.#durations);
    metrics.add(this.#failures);
  }

  started({ protocol, transport }: Parameters<DialObserver['started']>[0]): void {
    this.#starts.at(protocol, transport).add();
  }

  opened({ protocol, transport }: Parameters<DialObserver['opened']>[0], seconds: number): void {
    this.#durations.at(protocol, transport).observe(seconds);
  }

  failed(...[{ protocol, transport }, stage]: Parameters<DialObserver['failed']>): void {
    this.#failures.at(protocol, transport, stage).add();
  }
}
