import type { Minor } from '../api/emulation.ts';
import { hashedLabel } from '../observability/hashed-label.ts';
import { Numbers } from '../observability/instruments.ts';
import type { Metrics } from '../observability/metrics.ts';

interface ConfigMetricsOptions {
  readonly metrics: Metrics;
  readonly what: 'authentication' | 'authorization' | 'encryption';
  /** Identity of this server. */
  readonly server: string;
  readonly emulated: Minor;
  readonly now: () => Date;
}

/** What was read from a file of the configuration, under Kubernetes' names (apiserver, server/options/…config/metrics). */
export class ConfigMetrics {
  readonly #total: Numbers;
  readonly #last: Numbers;
  readonly #info: Numbers;
  readonly #server: string;
  readonly #now: () => Date;

  constructor({ metrics, what, server, emulated, now }: ConfigMetricsOptions) {
    this.#server = hashedLabel(server);
    this.#now = now;
    const prefix = `apiserver_${what}_config_controller`;
    const labels = ['status', 'apiserver_id_hash'];
    this.#total = metrics.add(
      new Numbers('counter', {
        name: `${prefix}_automatic_reloads_total`,
        help: `Reloads of the ${what} configuration, by whether they succeeded.`,
        labels,
      }),
    );
    this.#last = metrics.add(
      new Numbers('gauge', {
        name: `${prefix}_automatic_reload_last_timestamp_seconds`,
        help: `When the ${what} configuration was last reloaded, by whether that succeeded.`,
        labels,
      }),
    );
    this.#info = new Numbers('gauge', {
      name: `${prefix}_last_config_info`,
      help: `The hash of the ${what} configuration in effect.`,
      labels: ['apiserver_id_hash', 'hash'],
    });
    if (emulated >= 34) metrics.add(this.#info);
  }

  /** `text`: of the file in effect. */
  loaded(text: string): void {
    this.#info.clear();
    this.#info.at(this.#server, hashedLabel(text)).value = 1;
  }

  reloaded(text: string): void {
    this.#note('success');
    this.loaded(text);
  }

  failed(): void {
    this.#note('failure');
  }

  #note(status: 'success' | 'failure'): void {
    this.#total.at(status, this.#server).add();
    this.#last.at(status, this.#server).value = this.#now().getTime() / 1000;
  }
}
