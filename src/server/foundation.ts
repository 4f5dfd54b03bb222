import type { Minor } from '../api/emulation.ts';
import type { Gates } from '../api/feature-gates.ts';
import { loadTypes, type TypeLibrary } from '../api/idl/types.ts';
import type { GroupVersion } from '../api/names.ts';
import type { SigningFiles } from '../controllers/joining/signing.ts';
import type { Startup } from '../diagnostics/health-pages.ts';
import type { PairFiles } from '../http/serving-tls.ts';
import type { LogControl, Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { Tracing } from '../observability/tracing.ts';
import type { ServerOptions } from '../options/options.ts';
import { Registry } from '../registry/registry.ts';
import type { ResourceDefinition, ServedVersion } from '../registry/resource-definition.ts';
import type { EncryptionFile } from '../storage/encryption/encryption-file.ts';
import { describeTrouble, isPassing } from '../storage/postgres/connection/trouble.ts';
import { pause, persist } from '../util/pause.ts';
import { createReminder } from '../util/reminder.ts';
import type { Egress } from './egress.ts';
import type { Front } from './front.ts';
import { Services } from './services.ts';
import type { StartupStep } from './startup-checks.ts';

/** Everything that the command line finds out before the server starts, and the options. */
export interface ServerEnvironment {
  readonly options: ServerOptions;
  readonly databaseUrls: readonly string[];
  readonly egress: Egress;
  readonly serving: PairFiles;
  /** Authority of the serving certificate, in PEM form. */
  readonly servingCa: string;
  /** The authority that signs requests for certificates; undefined: none does. */
  readonly signing: SigningFiles | undefined;
  /** Authorities of client certificates. */
  readonly clientCaFiles: readonly string[];
  /** Private key for service account tokens; '' for the keys in the database. */
  readonly serviceAccountKeyFile: string;
  readonly logger: LogControl;
  /** How objects are encrypted; undefined: not at all. */
  readonly encryption: EncryptionFile | undefined;
  /** Ends a start that is not finished. A running server is ended by its `close`. */
  readonly stop: AbortSignal;
  /** The module that serving threads run. */
  readonly threadEntry: string;
}

/** Shared by all phases. */
export interface Foundation {
  /** The services of the whole server; each phase adds a branch. */
  readonly services: Services;
  readonly types: TypeLibrary;
  /** --emulated-version */
  readonly emulated: Minor;
  readonly registry: Registry;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly startup: Startup<StartupStep>;
  readonly egress: Egress;
  readonly now: () => Date;
  readonly isFeatureOn: Gates;
  /** Repeats a step of the start while the database is unavailable. */
  persistently<Result>(step: () => Promise<Result>): Promise<Result>;
  /** A line for an error of an unavailable database; undefined for any other. */
  describeOutage(error: unknown): string | undefined;
}

export function createFoundation(
  { options, logger, egress, stop }: Pick<ServerEnvironment, 'options' | 'logger' | 'egress' | 'stop'>,
  front: Front,
): Foundation {
  const { api } = options;
  egress.addTo(front.metrics);
  const remind = createReminder((trouble) => logger.warn('the start waits for the database', { trouble }));
  return {
    services: createServices(logger),
    types: loadTypes(api.emulated, [
      ...api.resources.flatMap(({ versions }) => versions.map(({ type }) => type)),
      ...api.resourcesBeside.map(({ storage }) => storage.type),
    ]),
    emulated: api.emulated,
    registry: createRegistry(api),
    logger,
    egress,
    metrics: front.metrics,
    tracing: front.tracing,
    startup: front.startup,
    now: () => new Date(),
    isFeatureOn: api.featureGates.isEnabled,
    persistently: (step) =>
      persist(step, {
        signal: stop,
        isPassing,
        onFailure: (error) => remind(describeTrouble(error)),
      }),
    describeOutage: (error) => (isPassing(error) ? describeTrouble(error) : undefined),
  };
}

const createServices = (logger: Logger): Services =>
  new Services({
    logger,
    isOutage: isPassing,
    now: () => performance.now(),
    random: Math.random,
    pause,
  });

function createRegistry(api: ServerOptions['api']): Registry {
  const { resources, runtimeConfig, featureGates } = api;
  const registry = new Registry();
  const servedOf =
    ({ resource }: ResourceDefinition) =>
    (version: GroupVersion, { enabledByDefault, gate }: ServedVersion): boolean =>
      (gate === undefined || featureGates.isEnabled(gate)) &&
      runtimeConfig.isEnabled(version, enabledByDefault, resource);
  for (const definition of resources) registry.add(definition, servedOf(definition));
  for (const definition of api.resourcesBeside) registry.add(definition, () => false);
  return registry;
}
