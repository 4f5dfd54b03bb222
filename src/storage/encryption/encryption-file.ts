import { FollowedFiles } from '../../util/followed-files.ts';
import { aborted } from '../../util/pause.ts';
import { type EncryptionRule, parseEncryptionConfig } from './config.ts';
import { Encryption, ProviderRules } from './encryption.ts';

export interface EncryptionFileOptions {
  readonly path: string;
  /** Whether a file that changes takes effect. */
  readonly reloads: boolean;
  readonly everyMs?: number;
}

export interface ReloadReport {
  /** Resolves when it is in effect. */
  onReload(): Promise<void> | void;
  /** The file that is in effect stays so. */
  onError(error: unknown): void;
}

/** Encryption as a file says, and as it says later where that is wished. */
export class EncryptionFile {
  readonly encoding: Encryption;
  readonly #file: FollowedFiles<readonly EncryptionRule[]>;
  readonly #reloads: boolean;
  #report: ReloadReport = { onReload: () => {}, onError: () => {} };

  /** @throws Error, one line that names what is wrong with the file */
  constructor({ path, reloads, everyMs }: EncryptionFileOptions) {
    this.#reloads = reloads;
    this.#file = new FollowedFiles({
      paths: [path],
      make: ([text = '']) => parseEncryptionConfig(text),
      onChange: (rules) => this.#replace(rules),
      onError: (error) => this.#report.onError(error),
      ...(everyMs === undefined ? {} : { everyMs }),
    });
    this.encoding = new Encryption(this.#toRules(this.#file.current));
  }

  /** Who is told of reloads, from now on. */
  report(report: ReloadReport): void {
    this.#report = report;
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#reloads) await this.#file.run(signal);
    else await aborted(signal);
  }

  async #replace(rules: readonly EncryptionRule[]): Promise<void> {
    this.encoding.replace(this.#toRules(rules));
    await this.#report.onReload();
  }

  #toRules(rules: readonly EncryptionRule[]): ProviderRules {
    return new ProviderRules(rules, () => {
      throw new Error('KMS is not served');
    });
  }
}
