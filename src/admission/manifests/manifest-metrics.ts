import { createHash } from 'node:crypto';
import { Numbers } from '../../observability/instruments.ts';
import type { Metrics } from '../../observability/metrics.ts';

const PREFIX = 'apiserver_manifest_admission_config_controller';

/** What was read from the folders of plugins, under Kubernetes' names (admission/plugin/manifest/metrics). */
export class ManifestMetrics {
  readonly #total: Numbers;
  readonly #last: Numbers;
  readonly #info: Numbers;
  readonly #server: string;
  readonly #now: () => Date;
  /** The hash of the files in force, by plugin. */
  readonly #hashes = new Map<string, string>();

  /** `server`: the identity of this server. */
  constructor(metrics: Metrics, server: string, now: () => Date) {
    this.#server = `sha256:${createHash('sha256').update(server).digest('hex')}`;
    this.#now = now;
    const labels = ['status', 'plugin', 'apiserver_id_hash'];
    this.#total = metrics.add(
      new Numbers('counter', {
        name: `${PREFIX}_automatic_reloads_total`,
        help: 'Readings of the manifests that configure admission, by plugin and whether they succeeded.',
        labels,
      }),
    );
    this.#last = metrics.add(
      new Numbers('gauge', {
        name: `${PREFIX}_automatic_reload_last_timestamp_seconds`,
        help: 'When the manifests that configure admission were last read, by plugin and whether that succeeded.',
        labels,
      }),
    );
    this.#info = metrics.add(
      new Numbers('gauge', {
        name: `${PREFIX}_last_config_info`,
        help: 'The hash of the manifests that configure admission, by plugin.',
        labels: ['plugin', 'apiserver_id_hash', 'hash'],
      }),
    );
  }

  loaded(plugin: string, hash: string): void {
    this.#note('success', plugin);
    const before = this.#hashes.get(plugin);
    if (before !== undefined) this.#info.remove(plugin, this.#server, before);
    this.#hashes.set(plugin, hash);
    this.#info.at(plugin, this.#server, hash).value = 1;
  }

  failed(plugin: string): void {
    this.#note('failure', plugin);
  }

  #note(status: 'success' | 'failure', plugin: string): void {
    this.#total.at(status, plugin, this.#server).add();
    this.#last.at(status, plugin, this.#server).value = this.#now().getTime() / 1000;
  }
}
