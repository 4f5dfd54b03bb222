import type { Gates } from '../../api/feature-gates.ts';
import type { ApiObject } from '../../api/object-meta.ts';
import type { PodTemplateSpec } from '../../api/types/core/v1.ts';
import type { LabelSelector } from '../../api/types/meta/v1.ts';
import { equal } from '../../object/equality.ts';
import type { FieldPath } from '../../object/field-path.ts';
import { goStrings } from '../../object/go-value.ts';
import { fromLabelSelector, matchesLabels } from '../../object/selectors.ts';
import { checkName } from '../../object/text-formats.ts';
import type { PodTemplateReader } from '../../registry/resource-definition.ts';
import { validatePodTemplate } from '../pod/validation/pod.ts';
import { podTemplateWarnings } from '../pod/warnings.ts';
import { goLabelSelector } from '../rules/go-structs.ts';
import { mustBeLabelSelector } from '../rules/labels.ts';

/** Rules of workloads, which make pods from a template and find them by their labels. */

interface Selecting {
  readonly selector?: LabelSelector;
  readonly template?: PodTemplateSpec;
}

export const isEmptySelector = ({ matchLabels = {}, matchExpressions = [] }: LabelSelector): boolean =>
  Object.keys(matchLabels).length + matchExpressions.length === 0;

/** Requires a selector that is not empty; `owner`: the message's name for the workload. False: the selector is unusable. */
export function mustSelectPods(at: FieldPath, selector: LabelSelector | undefined, owner: string): boolean {
  if (selector === undefined) {
    at.required();
    return true;
  }
  const foundBefore = at.found;
  mustBeLabelSelector(at, selector);
  const isReadable = at.found === foundBefore;
  if (isEmptySelector(selector))
    at.invalid(goLabelSelector(selector), `empty selector is invalid for ${owner}`);
  return isReadable;
}

/** `at`: the path of the template. An absent selector selects nothing. */
export function mustMatchSelector(
  at: FieldPath,
  template: PodTemplateSpec,
  selector: LabelSelector | undefined,
): void {
  const { labels } = template.metadata ?? {};
  if (selector !== undefined && matchesLabels(fromLabelSelector(selector), labels ?? {})) return;
  at.field('metadata')
    .field('labels')
    .invalid(goStrings(labels), '`selector` does not match template `labels`');
}

/** Pods that are to run for ever restart always and have no deadline. `owner` as in the message. */
export function mustRunForEver(at: FieldPath, template: PodTemplateSpec, owner: string): void {
  const { restartPolicy = '', activeDeadlineSeconds } = template.spec ?? {};
  const spec = at.field('spec');
  if (restartPolicy !== 'Always') spec.field('restartPolicy').notSupported(restartPolicy, ['Always']);
  if (activeDeadlineSeconds !== undefined) {
    const why = `activeDeadlineSeconds in ${owner} is not Supported`;
    spec.field('activeDeadlineSeconds').forbidden(why);
  }
}

/** Selector and template of a ReplicaSet, or of a Deployment, which makes ReplicaSets of them. `at` is the spec. */
export function mustMakeReplicas(at: FieldPath, { selector, template = {} }: Selecting): void {
  const path = at.field('selector');
  if (!mustSelectPods(path, selector, 'deployment')) {
    path.invalid(goLabelSelector(selector), 'invalid label selector');
    return;
  }
  const within = at.field('template');
  mustMatchSelector(within, template, selector);
  validatePodTemplate(within, template);
  mustRunForEver(within, template, 'ReplicaSet');
}

interface WithTemplate extends ApiObject {
  readonly spec?: { readonly template?: PodTemplateSpec };
}

export const SPEC_TEMPLATE: PodTemplateReader<WithTemplate> = {
  path: 'spec.template.spec',
  read: ({ spec }) => spec?.template,
};

/** Warnings about the template at `spec.template`, unless it is unchanged. */
export function templateWarnings(
  object: WithTemplate,
  old: WithTemplate | undefined,
  isOn?: Gates,
): string[] {
  if (old !== undefined && equal(object.spec, old.spec)) return [];
  return podTemplateWarnings(object.spec?.template ?? {}, 'spec.template', isOn);
}

/** Names with dots are allowed, but pods take them over, and their host names cannot. Only worth saying once. */
export function podNameWarnings({ metadata }: ApiObject, old: ApiObject | undefined): string[] {
  const reasons = old === undefined ? checkName(metadata.name ?? '', 'dns-label') : [];
  if (reasons.length === 0) return [];
  return [
    `metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [${reasons.join(' ')}]`,
  ];
}

/** For workloads whose pods have their name without a number. */
export function nameAndTemplateWarnings(
  object: WithTemplate,
  old: WithTemplate | undefined,
  isOn?: Gates,
): string[] {
  return [...podNameWarnings(object, old), ...templateWarnings(object, old, isOn)];
}
