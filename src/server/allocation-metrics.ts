import { DEFAULT_SECONDS, Histogram, Numbers } from '../observability/instruments.ts';
import type { Metrics } from '../observability/metrics.ts';
import { NODE_PORTS, type ValuePool } from '../registry/value-pool.ts';
import type { AllocationObserver, AllocationScope } from '../verbs/writing/allocation.ts';

const IPS = 'kube_apiserver_clusterip_allocator';
const PORTS = 'kube_apiserver_nodeport_allocator';

/** Addresses and ports of services that were allocated, under Kubernetes' names (registry/core/service). */
export class AllocationMetrics implements AllocationObserver {
  readonly #ips: Numbers;
  readonly #ipErrors: Numbers;
  readonly #ipSeconds: Histogram;
  readonly #ports: Numbers;
  readonly #portErrors: Numbers;

  constructor(metrics: Metrics) {
    const counter = (name: string, help: string, labels: readonly string[]): Numbers =>
      metrics.add(new Numbers('counter', { name, help, labels }));
    const ofAddress = ['cidr', 'scope'];
    this.#ips = counter(`${IPS}_allocation_total`, 'Allocated addresses of services.', ofAddress);
    this.#ipErrors = counter(
      `${IPS}_allocation_errors_total`,
      'Addresses of services that could not be allocated.',
      ofAddress,
    );
    this.#ipSeconds = metrics.add(
      new Histogram(
        {
          name: `${IPS}_allocation_duration_seconds`,
          help: 'Time from the choice of an address until its service was written.',
          labels: ['cidr'],
        },
        DEFAULT_SECONDS,
      ),
    );
    this.#ports = counter(`${PORTS}_allocation_total`, 'Allocated node ports.', ['scope']);
    this.#portErrors = counter(
      `${PORTS}_allocation_errors_total`,
      'Node ports that could not be allocated.',
      ['scope'],
    );
  }

  allocated(pool: ValuePool, index: number, how: AllocationScope, seconds: number): void {
    if (pool.name === NODE_PORTS) {
      this.#ports.at(how).add();
      return;
    }
    const cidr = pool.rangeAt(index);
    this.#ips.at(cidr, how).add();
    this.#ipSeconds.at(cidr).observe(seconds);
  }

  failed(pool: ValuePool, index: number | undefined, how: AllocationScope): void {
    if (pool.name === NODE_PORTS) this.#portErrors.at(how).add();
    else this.#ipErrors.at(pool.rangeAt(index ?? 0), how).add();
  }
}
