import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { HealthCheck } from '../diagnostics/health-pages.ts';
import { Numbers } from '../observability/instruments.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { type StorageOptions, storageFlags } from '../options/storage.ts';
import type { EncodedLog } from '../storage/encoded-log.ts';
import { EncryptionFile } from '../storage/encryption/encryption-file.ts';
import { EncryptionMetrics } from '../storage/encryption/encryption-metrics.ts';
import { errorText } from '../util/error-text.ts';
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
      note('success');
      logger.info(0, 'the encryption configuration was reloaded');
      await readAgain();
    },
    onError: (error) => {
      note('failure');
      logger.error(
        'the encryption configuration could not be reloaded; the one before stays in effect',
        error,
      );
    },
  });
  return { name: 'encryption', run: (signal) => file.run(signal) };
}

function createReloadMetrics({ metrics, now }: EncryptionParts): (status: 'success' | 'failure') => void {
  const labels = ['status', 'apiserver_id_hash'];
  const id = `sha256:${createHash('sha256').update(hostname()).digest('hex')}`;
  const total = metrics.add(
    new Numbers('counter', {
      name: 'apiserver_encryption_config_controller_automatic_reloads_total',
      help: 'Reloads of the encryption configuration, by whether they succeeded.',
      labels,
    }),
  );
  const last = metrics.add(
    new Numbers('gauge', {
      name: 'apiserver_encryption_config_controller_automatic_reload_last_timestamp_seconds',
      help: 'When the encryption configuration was last reloaded, by whether that succeeded.',
      labels,
    }),
  );
  // Kubernetes 1.30 put the first one in place of these two.
  const old = { success: 'success', failure: 'failures' };
  const totals = Object.entries(old).map(([status, word]) => {
    const numbers = new Numbers('counter', {
      name: `apiserver_encryption_config_controller_automatic_reload_${word}_total`,
      help: `(Deprecated since 1.30.0) Reloads of the encryption configuration: ${status}.`,
      labels: ['apiserver_id_hash'],
      hidden: true,
    });
    return [status, metrics.add(numbers)] as const;
  });
  const hidden = new Map(totals);
  return (status) => {
    total.at(status, id).add();
    hidden.get(status)?.at(id).add();
    last.at(status, id).value = now().getTime() / 1000;
  };
}
