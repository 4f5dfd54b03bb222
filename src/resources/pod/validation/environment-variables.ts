import type {
  ConfigMapKeySelector,
  EnvFromSource,
  EnvVar,
  EnvVarSource,
  FileKeySelector,
  SecretKeySelector,
  Volume,
} from '../../../api/types/core/v1.ts';
import type { FieldPath } from '../../../object/field-path.ts';
import {
  checkConfigMapKey,
  checkEnvironmentName,
  checkRelaxedEnvironmentName,
} from '../../../object/text-formats.ts';
import { mustBeName, mustBeNamed } from '../../rules/name-rules.ts';
import { FIELDS_OF_VARIABLES, validateFieldRef, validateResourceFieldRef } from './downward-api.ts';
import { mustDescend } from './file-paths.ts';

/** Environment variables: one by one, and whole config maps and secrets. */

export function validateEnv(
  at: FieldPath,
  variables: readonly EnvVar[] | undefined,
  volumes: ReadonlyMap<string, Volume>,
): void {
  for (const [path, { name = '', value = '', valueFrom }] of at.each(variables)) {
    if (name === '') path.field('name').required();
    else mustBeEnvironmentName(path.field('name'), name);
    if (valueFrom === undefined) continue;
    validateSource(path.field('valueFrom'), valueFrom, value !== '');
    if (valueFrom.fileKeyRef !== undefined)
      mustBeInEmptyDir(path.field('valueFrom').field('fileKeyRef'), valueFrom.fileKeyRef, volumes);
  }
}

function mustBeEnvironmentName(at: FieldPath, name: string): void {
  const isRelaxed = at.isOn('RelaxedEnvironmentVariableValidation');
  at.invalidFor(name, isRelaxed ? checkRelaxedEnvironmentName(name) : checkEnvironmentName(name));
}

function validateSource(at: FieldPath, source: EnvVarSource, hasValue: boolean): void {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = source;
  if (fieldRef !== undefined) validateFieldRef(at.field('fieldRef'), fieldRef, FIELDS_OF_VARIABLES);
  if (resourceFieldRef !== undefined)
    validateResourceFieldRef(at.field('resourceFieldRef'), resourceFieldRef, 'container');
  if (configMapKeyRef !== undefined) validateKeySelector(at.field('configMapKeyRef'), configMapKeyRef);
  if (secretKeyRef !== undefined) validateKeySelector(at.field('secretKeyRef'), secretKeyRef);
  if (fileKeyRef !== undefined) validateFileKey(at.field('fileKeyRef'), fileKeyRef);
  const given = [fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef].filter(
    (one) => one !== undefined,
  );
  if (given.length === 0)
    at.invalid(
      '',
      at.isOn('EnvFiles')
        ? 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`'
        : 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`',
    );
  else if (hasValue) at.invalid('', 'may not be specified when `value` is not empty');
  else if (given.length > 1) at.invalid('', 'may not have more than one field specified at a time');
}

function validateKeySelector(
  at: FieldPath,
  { name = '', key = '' }: ConfigMapKeySelector | SecretKeySelector,
): void {
  mustBeName(at.field('name'), name, 'dns-subdomain');
  if (key === '') at.field('key').required();
  else at.field('key').invalidFor(key, checkConfigMapKey(key));
}

function validateFileKey(at: FieldPath, { volumeName = '', path = '', key = '' }: FileKeySelector): void {
  mustBeNamed(at.field('volumeName'), volumeName, 'dns-label');
  if (path === '') at.field('path').required();
  else mustDescend(at.field('path'), path);
  if (key === '') at.field('key').required();
  else at.field('key').invalidFor(key, checkRelaxedEnvironmentName(key));
}

/** Only such a volume is written by another container of the pod before this one starts. */
function mustBeInEmptyDir(
  at: FieldPath,
  { volumeName = '' }: FileKeySelector,
  volumes: ReadonlyMap<string, Volume>,
): void {
  const volume = volumes.get(volumeName);
  if (volumeName === '') return;
  if (volume === undefined) at.field('volumeName').notFound(volumeName);
  else if (volume.emptyDir === undefined)
    at.field('volumeName').invalid(volumeName, 'must reference an emptyDir volume');
}

const WHOLE = ['configMapRef', 'secretRef'] as const;

/** The error about the number of sources has the path of the list, not of the entry, as in Kubernetes. */
export function validateEnvFrom(at: FieldPath, sources: readonly EnvFromSource[] | undefined): void {
  for (const [path, source] of at.each(sources)) {
    const { prefix = '' } = source;
    if (prefix !== '') mustBeEnvironmentName(path.field('prefix'), prefix);
    const given = WHOLE.filter((name) => source[name] !== undefined);
    // The object need not exist yet, so a prefix of a generated name would do as well.
    for (const kind of given) mustBeNamedPrefix(path.field(kind).field('name'), source[kind]?.name ?? '');
    if (given.length === 0) at.invalid('', 'must specify one of: `configMapRef` or `secretRef`');
    if (given.length > 1) at.invalid('', 'may not have more than one field specified at a time');
  }
}

const mustBeNamedPrefix = (at: FieldPath, name: string): void =>
  mustBeNamed(at, name.replace(/-$/, 'a'), 'dns-subdomain');
