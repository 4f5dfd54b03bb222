import type { ApiObject, JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { eachInvalid, invalidValue, required } from '../../object/field-errors.ts';
import { checkConfigMapKey } from '../../object/formats.ts';
import { part, text } from '../../object/parts.ts';
import { isOlder, parseSemanticVersion, type SemanticVersion } from '../validation/semantic-version.ts';
import { strings } from '../validation/values.ts';
import { OLDEST_EMULATION_VERSION, validateLeaseStrategy } from './validate-strategy.ts';

/** Somebody who would lead, with the versions by which the leader may be chosen. */
export function validateLeaseCandidate(candidate: ApiObject): FieldError[] {
  const spec = part(candidate, 'spec');
  const { name = '' } = candidate.metadata;
  return [
    ...eachInvalid('metadata.name', name, checkConfigMapKey(name)),
    ...(text(spec.leaseName) === '' ? [required('spec.leaseName')] : []),
    ...validateVersions(spec),
    ...validateStrategies(spec),
  ];
}

const versionOf = (spec: JsonObject, name: string): SemanticVersion | undefined =>
  parseSemanticVersion(text(spec[name]));

function validateVersions(spec: JsonObject): FieldError[] {
  const errors = ['emulationVersion', 'binaryVersion'].flatMap((name) =>
    text(spec[name]) === '' || versionOf(spec, name) !== undefined
      ? []
      : [invalidValue(`spec.${name}`, spec[name], 'must be a valid semantic version')],
  );
  const binary = versionOf(spec, 'binaryVersion');
  const emulation = versionOf(spec, 'emulationVersion');
  if (binary !== undefined && emulation !== undefined && isOlder(binary, emulation)) {
    const why = 'must be greater than or equal to `emulationVersion`';
    errors.push(invalidValue('spec.binaryVersion', spec.binaryVersion, why));
  }
  return errors;
}

function validateStrategies(spec: JsonObject): FieldError[] {
  const strategies = strings(spec, 'preferredStrategies');
  const errors = strategies.flatMap((strategy, at) =>
    validateLeaseStrategy(strategy, `spec.preferredStrategies[${at}]`),
  );
  if (!strategies.includes(OLDEST_EMULATION_VERSION)) return errors;
  const why = `must be specified when \`strategy\` is '${OLDEST_EMULATION_VERSION}'`;
  const missing = ['binaryVersion', 'emulationVersion'].filter((name) => versionOf(spec, name) === undefined);
  return [...errors, ...missing.map((name) => required(`spec.${name}`, why))];
}
