import type { ApiObject, JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { equal } from '../../../object/equality.ts';
import { duplicate, forbiddenField, notFoundValue } from '../../../object/field-errors.ts';
import { objectsOf, part, parts, text } from '../../../object/parts.ts';
import { addAll, each, eachAt } from '../../validation/values.ts';
import { isMirrorPod } from './annotations.ts';
import { type PodContext, validateContainer, validateImageText } from './containers.ts';

/** What a container for debugging cannot have, because the pod was planned without it. */
const FORBIDDEN = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
];

export function validateEphemeralContainers(
  spec: JsonObject,
  path: string,
  pod: PodContext,
  errors: FieldError[],
): void {
  const others = [...parts(spec, 'containers'), ...parts(spec, 'initContainers')].map(({ name }) =>
    text(name),
  );
  const names = new Set(others);
  eachAt(objectsOf(spec.ephemeralContainers), path, (container, at) => {
    const name = text(container.name);
    const target = text(container.targetContainerName);
    validateContainer(container, at, pod, errors);
    validateImageText(container, at, errors);
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    names.add(name);
    if (target !== '' && !others.includes(target))
      errors.push(notFoundValue(`${at}.targetContainerName`, target));
    addAll(errors, validateFields(container, at));
    addAll(errors, validateMounts(container, at));
  });
}

const CANNOT = 'cannot be set for an Ephemeral Container';

function validateFields(container: JsonObject, path: string): FieldError[] {
  return FORBIDDEN.filter((field) => isFilled(container[field])).map((field) =>
    forbiddenField(`${path}.${field}`, CANNOT),
  );
}

/** Go writes structs that hold nothing; they are not meant. */
function isFilled(value: JsonObject[string]): boolean {
  if (typeof value !== 'object' || value === null) return value !== undefined && value !== null;
  return Object.keys(value).length > 0;
}

function validateMounts(container: JsonObject, path: string): FieldError[] {
  return each(parts(container, 'volumeMounts'), `${path}.volumeMounts`, (mount, at) =>
    ['subPath', 'subPathExpr']
      .filter((field) => text(mount[field]) !== '')
      .map((field) => forbiddenField(`${at}.${field}`, CANNOT)),
  );
}

/** They can be added, and stay as they were. */
export function validateEphemeralUpdate(pod: ApiObject, old: ApiObject): FieldError[] {
  if (isMirrorPod(old.metadata.annotations ?? {}))
    return [forbiddenField('', 'static pods do not support ephemeral containers')];
  const list = (object: ApiObject) => parts(part(object, 'spec'), 'ephemeralContainers');
  return list(old).flatMap((before) => {
    const now = list(pod).find(({ name }) => name === before.name);
    if (now !== undefined && equal(now, before)) return [];
    const fate = now === undefined ? 'removed' : 'changed';
    const why = `existing ephemeral containers "${text(before.name)}" may not be ${fate}\n`;
    return [forbiddenField('spec.ephemeralContainers', why)];
  });
}
