import { runTogether } from '../../util/concurrency.ts';
import { FollowedFiles } from '../../util/followed-files.ts';
import { aborted } from '../../util/pause.ts';
import { Encryption, ProviderRules } from './encryption.ts';
import { type EncryptionRule, type KmsConfig, parseEncryptionConfig } from './encryption-config.ts';
import { EncryptionMetrics } from './encryption-metrics.ts';
import { GrpcKmsClient, type KmsClient } from './kms-client.ts';
import { KmsProvider } from './kms-provider.ts';

interface EncryptionFileOptions {
  readonly path: string;
  /** Whether changes of the file take effect. */
  readonly reloads: boolean;
  readonly everyMs?: number;
  readonly connect?: (config: KmsConfig) => KmsClient;
  readonly metrics?: EncryptionMetrics;
}

interface EncryptionReport {
  /** Called when a new file is in effect. */
  onReload(): Promise<void> | void;
  /** Called when a new file is refused; the old one stays. */
  onError(error: unknown): void;
  /** Called when unreadable objects may have become readable. */
  onRecovery(): void;
}

/** One version of the file, with its plugins. */
interface Generation {
  readonly rules: ProviderRules;
  readonly plugins: readonly KmsProvider[];
}

/** EncryptionFile encrypts as a file says, and reloads it if wished. */
export class EncryptionFile {
  readonly encoding: Encryption;
  readonly reloads: boolean;
  readonly metrics: EncryptionMetrics;
  readonly #file: FollowedFiles<readonly EncryptionRule[]>;
  readonly #connect: (config: KmsConfig) => KmsClient;
  #generation: Generation;
  #replaced = new AbortController();
  #report: EncryptionReport = { onReload: () => {}, onError: () => {}, onRecovery: () => {} };

  /** @throws Error, one line that names what is wrong with the file */
  constructor({ path, reloads, everyMs, connect, metrics }: EncryptionFileOptions) {
    this.reloads = reloads;
    this.metrics = metrics ?? new EncryptionMetrics();
    this.#connect = connect ?? ((config) => new GrpcKmsClient(config, this.metrics));
    this.#file = new FollowedFiles({
      paths: [path],
      make: ([text = '']) => parseEncryptionConfig(text),
      onChange: (rules) => this.#replace(rules),
      onError: (error) => this.#report.onError(error),
      ...(everyMs === undefined ? {} : { everyMs }),
    });
    this.#generation = this.#create(this.#file.current);
    this.encoding = new Encryption(this.#generation.rules, this.metrics);
  }

  /** The text of the file when it was last read. */
  get text(): string {
    return this.#file.texts[0] ?? '';
  }

  /** In the order of the file. */
  get plugins(): readonly KmsProvider[] {
    return this.#generation.plugins;
  }

  /** Sets the receiver of reports. */
  report(report: EncryptionReport): void {
    this.#report = report;
  }

  /** Resolves when every plugin has responded once, well or not. */
  async ask(): Promise<void> {
    await Promise.all(this.plugins.map((plugin) => plugin.refresh()));
  }

  /** Closes the plugins where `run` was not called. */
  close(): void {
    for (const plugin of this.plugins) plugin.close();
  }

  async run(signal: AbortSignal): Promise<void> {
    const loops = [(either: AbortSignal) => this.#runPlugins(either)];
    if (this.reloads) loops.push((either) => this.#file.run(either));
    await runTogether(loops, signal);
  }

  /** Runs the plugins of the file in effect; a reload replaces them. */
  async #runPlugins(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const either = AbortSignal.any([signal, this.#replaced.signal]);
      await Promise.all([aborted(either), ...this.plugins.map((plugin) => plugin.run(either))]);
    }
  }

  /** @throws Error when a plugin of the new rules is not well: the old rules stay in effect */
  async #replace(rules: readonly EncryptionRule[]): Promise<void> {
    const next = this.#create(rules);
    try {
      for (const plugin of next.plugins) await plugin.assertWell(NOW);
    } catch (error) {
      for (const plugin of next.plugins) plugin.close();
      throw error;
    }
    this.#generation = next;
    this.encoding.replace(next.rules);
    const before = this.#replaced;
    this.#replaced = new AbortController();
    before.abort();
    await this.#report.onReload();
  }

  #create(rules: readonly EncryptionRule[]): Generation {
    const plugins: KmsProvider[] = [];
    const connect = (config: KmsConfig): KmsProvider => {
      const plugin = new KmsProvider({
        name: config.name,
        client: this.#connect(config),
        metrics: this.metrics,
        onRecovery: () => this.#report.onRecovery(),
      });
      plugins.push(plugin);
      return plugin;
    };
    return { rules: new ProviderRules(rules, connect), plugins };
  }
}

const NOW = { well: 0, unwell: 0 };
