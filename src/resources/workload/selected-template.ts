import type { JsonObject } from '../../api/object-meta.ts';
import type { FieldError } from '../../api/status.ts';
import { forbiddenField, notSupported, required } from '../../object/field-errors.ts';
import { fromLabelSelector, matchesLabels } from '../../object/label-selector.ts';
import { part, parts, text } from '../../object/parts.ts';
import { validatePodTemplate } from '../pod/validation/pod-template.ts';
import { validateLabelSelector } from '../validation/label-selector.ts';
import { goLabelSelector, goStrings, invalidShown } from '../validation/notation.ts';

/** What holds for everything that makes pods from a template and finds them again by their labels. */

export const selectorOf = (spec: JsonObject): JsonObject | undefined =>
  spec.selector === undefined || spec.selector === null ? undefined : part(spec, 'selector');

/** The selector must be there and select something; `kind` is what the message calls its owner. */
export function validateSelector(selector: JsonObject | undefined, kind: string): FieldError[] {
  if (selector === undefined) return [required('spec.selector')];
  const errors = validateLabelSelector(selector, 'spec.selector');
  const size = Object.keys(part(selector, 'matchLabels')).length + parts(selector, 'matchExpressions').length;
  if (size === 0) {
    const why = `empty selector is invalid for ${kind}`;
    errors.push(invalidShown('spec.selector', goLabelSelector(selector), why));
  }
  return errors;
}

/** An absent selector selects nothing. */
export function validateTemplateLabels(selector: JsonObject | undefined, template: JsonObject): FieldError[] {
  const labels = part(template, 'metadata', 'labels');
  const given = labels as Record<string, string>;
  if (selector !== undefined && matchesLabels(fromLabelSelector(selector), given)) return [];
  return [labelMismatch(template)];
}

export function labelMismatch(template: JsonObject): FieldError {
  const { labels } = part(template, 'metadata');
  const shown = goStrings(labels === undefined ? undefined : part(template, 'metadata', 'labels'));
  return invalidShown('spec.template.metadata.labels', shown, '`selector` does not match template `labels`');
}

/** Pods that are to run for ever: they restart always, and have no deadline. `kind` as in the message. */
export function validateLastingPods(template: JsonObject, kind: string): FieldError[] {
  const path = 'spec.template.spec';
  const { restartPolicy, activeDeadlineSeconds } = part(template, 'spec');
  const errors: FieldError[] = [];
  if (restartPolicy !== 'Always')
    errors.push(notSupported(`${path}.restartPolicy`, text(restartPolicy), ['Always']));
  if (activeDeadlineSeconds !== undefined) {
    const why = `activeDeadlineSeconds in ${kind} is not Supported`;
    errors.push(forbiddenField(`${path}.activeDeadlineSeconds`, why));
  }
  return errors;
}

/** Selector and template of a ReplicaSet, or of a Deployment, which makes ReplicaSets of them. */
export function validateReplicaTemplate(spec: JsonObject): FieldError[] {
  const selector = selectorOf(spec);
  const template = part(spec, 'template');
  const errors = validateSelector(selector, 'deployment');
  if (selector !== undefined && validateLabelSelector(selector, '').length > 0) {
    return [...errors, invalidShown('spec.selector', goLabelSelector(selector), 'invalid label selector')];
  }
  return [
    ...errors,
    ...validateTemplateLabels(selector, template),
    ...validatePodTemplate(template, 'spec.template'),
    ...validateLastingPods(template, 'ReplicaSet'),
  ];
}
