import { hostname } from 'node:os';
import type { Minor } from '../api/emulation.ts';
import type { HealthCheck } from '../diagnostics/health-pages.ts';
import { hashedLabel } from '../observability/hashed-label.ts';
import { Numbers } from '../observability/instruments.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { type StorageOptions, storageFlags } from '../options/storage.ts';
import type { EncodedLog } from '../storage/encoded-log.ts';
import { EncryptionFile } from '../storage/encryption/encryption-file.ts';
import { EncryptionMetrics } from '../storage/encryption/encryption-metrics.ts';
import { errorText } from '../util/error-text.ts';
import { ConfigMetrics } from './config-metrics.ts';
import type { Service } from './services.ts';

/** How old a plugin's answer may be for a health check, as in Kubernetes. */
const ANSWER_AGE_MS = { well: 20_000, unwell: 3000 };
const ENDPOINTS = ['healthz', 'readyz'] as const;

/** One check a plugin, or one for all where a reload may change which there are. A server lives on without its plugins. */
export function createEncryptionChecks(file: EncryptionFile | undefined): readonly HealthCheck[] {
  if (file === undefined) return [];
  if (!file.reloads)
    return file.plugins.map((plugin, at) => ({
      name: `kms-provider-${at}`,
      endpoints: ENDPOINTS,
      check: () => plugin.assertWell(ANSWER_AGE_MS),
    }));
  const check = async (): Promise<void> => {
    await Promise.all(file.plugins.map((plugin) => plugin.assertWell(ANSWER_AGE_MS)));
  };
  return [{ name: 'kms-providers', endpoints: ENDPOINTS, check }];
}

/** Undefined: encryption is off. @throws Error with a message of one line that names the flag and the mistake in the file */
export function openEncryption(options: StorageOptions): EncryptionFile | undefined {
  const path = options.encryptionProviderConfig;
  if (path === '') return undefined;
  try {
    const reloads = options.encryptionProviderConfigAutomaticReload;
    return new EncryptionFile({ path, reloads, metrics: new EncryptionMetrics(hostname()) });
  } catch (error) {
    const why = errorText(error);
    throw new Error(`${storageFlags.encryptionProviderConfig.shown}: ${path}: ${why}`, { cause: error });
  }
}

interface EncryptionParts {
  readonly file: EncryptionFile;
  readonly logs: readonly EncodedLog[];
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly emulated: Minor;
  readonly now: () => Date;
  /** Whether there is anything that could not be read. */
  hasUnreadable(): boolean;
}

/** Follows the file if configured, and reports metrics under Kubernetes' names. */
export function createEncryptionService(parts: EncryptionParts): Service {
  const { file, logs, logger } = parts;
  for (const instrument of file.metrics.instruments) parts.metrics.add(instrument);
  const note = createReloadMetrics(parts);
  const readAgain = async (): Promise<void> => {
    if (parts.hasUnreadable()) for (const { feed } of logs) await feed.renew();
  };
  file.report({
    // An error ends the feed, which begins again.
    onRecovery: () => void readAgain().catch(() => {}),
    onReload: async () => {
      note.reloaded();
      logger.info(0, 'the encryption configuration was reloaded');
      await readAgain();
    },
    onError: (error) => {
      note.failed();
      logger.error(
        'the encryption configuration could not be reloaded; the one before stays in effect',
        error,
      );
    },
  });
  return { name: 'encryption', run: (signal) => file.run(signal) };
}

function createReloadMetrics({ metrics, file, emulated, now }: EncryptionParts): {
  reloaded(): void;
  failed(): void;
} {
  const server = hostname();
  const config = new ConfigMetrics({ ...{ metrics, server, emulated, now }, what: 'encryption' });
  config.loaded(file.text);
  if (emulated >= 34) return { reloaded: () => config.reloaded(file.text), failed: () => config.failed() };
  // Kubernetes 1.30 put that in place of these two, which are gone since 1.34.
  const hidden = (status: string, word: string): Numbers =>
    metrics.add(
      new Numbers('counter', {
        name: `apiserver_encryption_config_controller_automatic_reload_${word}_total`,
        help: `(Deprecated since 1.30.0) Reloads of the encryption configuration: ${status}.`,
        labels: ['apiserver_id_hash'],
        hidden: true,
        deprecated: '1.30.0',
      }),
    );
  const [successes, failures] = [hidden('success', 'success'), hidden('failure', 'failures')];
  const id = hashedLabel(server);
  return {
    reloaded: () => {
      config.reloaded(file.text);
      successes.at(id).add();
    },
    failed: () => {
      config.failed();
      failures.at(id).add();
    },
  };
}
