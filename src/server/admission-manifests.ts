import { hostname } from 'node:os';
import { ManifestFolder, type ReadManifest } from '../admission/manifests/manifest-folder.ts';
import { ManifestMetrics } from '../admission/manifests/manifest-metrics.ts';
import { type OpenManifests, staticManifestsDir } from '../admission/manifests/manifest-rules.ts';
import type { Minor } from '../api/emulation.ts';
import type { Gates } from '../api/feature-gates.ts';
import type { TypeLibrary } from '../api/idl/types.ts';
import { invalid } from '../api/status.ts';
import { decodeObject } from '../codec/decode.ts';
import { asObject } from '../object/field-errors.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import { toStorage } from '../registry/conversion.ts';
import { builtInResources } from '../resources/all.ts';
import { runTogether } from '../util/concurrency.ts';
import { aborted } from '../util/pause.ts';
import { validateObject } from '../verbs/writing/prepare-write.ts';

interface ManifestParts {
  readonly types: TypeLibrary;
  readonly emulated: Minor;
  readonly isFeatureOn: Gates;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly now: () => Date;
}

interface Manifests {
  /** To be called while the plugins are made. */
  readonly open: OpenManifests;
  /** Follows all opened folders. */
  run(signal: AbortSignal): Promise<void>;
}

/** Admission that files configure: reads objects as the API does, and reports what becomes of changed files. */
export function createManifests(parts: ManifestParts): Manifests {
  const { isFeatureOn, logger } = parts;
  const folders: ManifestFolder[] = [];
  const read = manifestReader(parts);
  let metrics: ManifestMetrics | undefined;
  return {
    open: (config, rules) => {
      const dir = staticManifestsDir(config, isFeatureOn);
      if (dir === '') return undefined;
      metrics ??= new ManifestMetrics(parts.metrics, hostname(), parts.now);
      const report = {
        loaded: () => logger.info(0, 'admission', { message: `${rules.plugin}: ${dir} was read again` }),
        failed: (error: unknown) => logger.error(`admission by the manifests of ${dir}`, error),
      };
      const folder = new ManifestFolder({ dir, rules, read, metrics, report });
      folders.push(folder);
      return folder;
    },
    run: (signal) =>
      runTogether([aborted, ...folders.map((folder) => (either: AbortSignal) => folder.run(either))], signal),
  };
}

function manifestReader({ types, emulated, isFeatureOn }: ManifestParts): ReadManifest {
  const known = builtInResources(emulated);
  return (value, { group, resource }) => {
    const definition = known.find((one) => one.group === group && one.resource === resource);
    const version = definition?.versions.find((one) => one.version === 'v1');
    if (definition === undefined || version === undefined) throw new Error(`${resource} are not known`);
    const { object, unknown } = decodeObject(value, types.message(version.type));
    if (unknown.length > 0)
      throw new Error(unknown.map((path) => `unknown field ${JSON.stringify(path)}`).join(', '));
    const { metadata = {} } = object;
    const { kind } = definition;
    const typed = { ...object, kind, apiVersion: `${group}/v1`, metadata: asObject(metadata) };
    const stored = toStorage(typed, { definition, version });
    definition.strategy.defaults?.(stored, isFeatureOn);
    const problems = validateObject(definition, stored, types, { isOn: isFeatureOn });
    if (problems.length > 0) throw invalid(definition, stored.metadata.name ?? '', problems);
    return stored;
  };
}
