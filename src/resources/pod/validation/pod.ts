import type { ApiObject, JsonObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { equal } from '../../../object/equality.ts';
import { forbiddenField } from '../../../object/field-errors.ts';
import { objectOf, objectsOf, part, text } from '../../../object/parts.ts';
import { eachAt } from '../../validation/values.ts';
import { validatePodAnnotations } from './annotations.ts';
import { validateImageText } from './containers.ts';
import { validatePodSpec } from './pod-spec.ts';
import { validateProfileAnnotations } from './security-profiles.ts';

/** A pod, new or changed. */
export function validatePod(pod: ApiObject, old?: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  const spec = part(pod, 'spec');
  const { name = '', annotations = {} } = pod.metadata;
  validatePodAnnotations(annotations, spec, 'metadata.annotations', errors);
  if (old !== undefined && equal(pod.spec, old.spec)) return errors;
  validatePodSpec(spec, { path: 'spec', podName: name }, errors);
  validateTokens(spec, errors);
  for (const list of ['containers', 'initContainers'])
    eachAt(objectsOf(spec[list]), `spec.${list}`, (container, at) =>
      validateImageText(container, at, errors),
    );
  return errors;
}

/** A token is of a service account; without one there is nothing to project. */
function validateTokens(spec: JsonObject, errors: FieldError[]): void {
  if (text(spec.serviceAccountName) !== '') return;
  eachAt(objectsOf(spec.volumes), 'spec.volumes', (volume, at) =>
    eachAt(objectsOf(objectOf(volume.projected).sources), `${at}.projected.sources`, (source, sourceAt) => {
      if (source.serviceAccountToken === undefined) return;
      const why = 'must not be specified when serviceAccountName is not set';
      errors.push(forbiddenField(`${sourceAt}.serviceAccountToken`, why));
    }),
  );
}

/** What a pod may become but not begin with. */
export function validateNewPod(pod: ApiObject): FieldError[] {
  const errors: FieldError[] = [];
  const spec = part(pod, 'spec');
  validateProfileAnnotations(pod.metadata.annotations ?? {}, spec, 'spec', errors);
  if (objectsOf(spec.ephemeralContainers).length > 0)
    errors.push(forbiddenField('spec.ephemeralContainers', 'cannot be set on create'));
  if (text(spec.nodeName) !== '' && objectsOf(spec.schedulingGates).length > 0) {
    const why = 'cannot be set until all schedulingGates have been cleared';
    errors.push(forbiddenField('spec.nodeName', why));
  }
  return errors;
}
