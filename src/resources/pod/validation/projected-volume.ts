import type { JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { forbiddenField, invalidValue, required } from '../../../object/field-errors.ts';
import { count, part, parts, text } from '../../../object/parts.ts';
import { validateOptionalSelector } from '../../validation/label-selector.ts';
import { each } from '../../validation/values.ts';
import { FIELDS_OF_FILES, validateFieldRef, validateResourceFieldRef } from './downward-api.ts';
import { validateFileMode, validateUnreservedPath } from './paths.ts';

/** Files made of keys of secrets and config maps, of fields of the pod, and of tokens: alone, or several in one volume. */

/** A key of a secret or a config map as a file. */
export function validateKeyToPath(item: JsonObject, path: string): FieldError[] {
  return [
    ...validateUnreservedPath(text(item.path), `${path}.path`),
    ...validateFileMode(item.mode, `${path}.mode`),
  ];
}

/** Kubernetes leaves out which of the files it is; so do clients that look at the path. */
export function validateDownwardFile(file: JsonObject, path: string): FieldError[] {
  const errors = [
    ...(text(file.path) === '' ? [required(`${path}.path`)] : []),
    ...validateUnreservedPath(text(file.path), `${path}.path`),
    ...validateFileMode(file.mode, `${path}.mode`),
  ];
  if (file.fieldRef !== undefined) {
    errors.push(...validateFieldRef(part(file, 'fieldRef'), FIELDS_OF_FILES, `${path}.fieldRef`));
    if (file.resourceFieldRef !== undefined) {
      const why = 'fieldRef and resourceFieldRef can not be specified simultaneously';
      errors.push(invalidValue(path, 'resource', why));
    }
  } else if (file.resourceFieldRef === undefined) {
    errors.push(required(path, 'one of fieldRef and resourceFieldRef is required'));
  } else {
    const ref = part(file, 'resourceFieldRef');
    errors.push(...validateResourceFieldRef(ref, `${path}.resourceFieldRef`, true));
  }
  return errors;
}

export function validateProjected(volume: JsonObject, path: string): FieldError[] {
  const paths = new Set<string>();
  return [
    ...validateFileMode(volume.defaultMode, `${path}.defaultMode`),
    ...each(parts(volume, 'sources'), `${path}.sources`, (source, at) => {
      const given = Object.entries(SOURCES).filter(([kind]) => source[kind] !== undefined);
      const errors = given.flatMap(([kind, validate]) => validate(part(source, kind), `${at}.${kind}`, path));
      for (const [kind] of given) errors.push(...conflictingPaths(part(source, kind), kind, path, paths));
      if (given.length > 1)
        errors.push(forbiddenField(at, 'may not specify more than 1 volume type per source'));
      return errors;
    }),
  ];
}

/** `volume` is the path of the volume itself, which some messages name instead of the source. */
type Source = (source: JsonObject, path: string, volume: string) => FieldError[];

const KEYS: Source = (source, path) => [
  ...(text(source.name) === '' ? [required(`${path}.name`)] : []),
  ...each(parts(source, 'items'), `${path}.items`, validateKeyToPath),
];

const FIELDS: Source = (source, path) =>
  parts(source, 'items').flatMap((file) => validateDownwardFile(file, path));

const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;

const TOKEN: Source = (source, path, volume) => {
  const seconds = count(source.expirationSeconds);
  const at = `${path}.expirationSeconds`;
  return [
    ...(seconds < MIN_TOKEN_SECONDS
      ? [invalidValue(at, seconds, 'may not specify a duration less than 10 minutes')]
      : []),
    ...(seconds > MAX_TOKEN_SECONDS
      ? [invalidValue(at, seconds, 'may not specify a duration larger than 2^32 seconds')]
      : []),
    ...validateUnreservedPath(text(source.path), `${volume}.path`),
  ];
};

const TRUST: Source = (source, path) => [
  ...validateTrustedBundle(source, path),
  ...validateUnreservedPath(text(source.path), `${path}.path`),
];

/** One bundle by its name, or all of a signer that labels select. */
function validateTrustedBundle(source: JsonObject, path: string): FieldError[] {
  const { name, signerName, labelSelector } = source;
  if (name !== undefined && signerName !== undefined)
    return [invalidValue(path, source, 'only one of name and signerName may be used')];
  if (name === undefined && signerName === undefined)
    return [required(path, 'either name or signerName must be specified')];
  if (name === undefined) {
    const unnamed = signerName === '' ? [required(`${path}.signerName`, 'must be a valid signer name')] : [];
    return [...unnamed, ...validateOptionalSelector(source, 'labelSelector', path)];
  }
  const why = 'labelSelector must be unset if name is specified';
  return [
    ...(name === '' ? [required(`${path}.name`, 'must be a valid object name')] : []),
    ...(labelSelector === undefined ? [] : [invalidValue(`${path}.labelSelector`, labelSelector, why)]),
  ];
}

const SOURCES: Readonly<Record<string, Source>> = {
  secret: KEYS,
  configMap: KEYS,
  downwardAPI: FIELDS,
  serviceAccountToken: TOKEN,
  clusterTrustBundle: TRUST,
};

/** No two files of a volume may have one path. Tokens are not looked at, as in Kubernetes. */
function conflictingPaths(source: JsonObject, kind: string, volume: string, seen: Set<string>): FieldError[] {
  if (kind === 'serviceAccountToken') return [];
  const files = kind === 'clusterTrustBundle' ? [source] : parts(source, 'items');
  return files.flatMap((file) => {
    const path = text(file.path);
    if (path === '') return [];
    if (seen.has(path)) return [invalidValue(volume, text(source.name, path), 'conflicting duplicate paths')];
    seen.add(path);
    return [];
  });
}
