import type { ApiObject } from '../../api/object-meta.ts';
import { part, text } from '../cells.ts';

/**
 * A job's pods are found by the job's own uid, which nobody can know beforehand, unless the user insists on a selector of
 * their own (Kubernetes: job strategy, generateSelector).
 */
export function generateSelector(job: ApiObject): void {
  const spec = part(job, 'spec');
  if (spec.manualSelector === true) return;
  const uid = text(job.metadata.uid);
  const name = text(job.metadata.name);
  const template = part(spec, 'template');
  const metadata = part(template, 'metadata');
  metadata.labels = {
    ...part(metadata, 'labels'),
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  };
  const selector = part(spec, 'selector');
  spec.selector = {
    ...selector,
    matchLabels: { ...part(selector, 'matchLabels'), 'batch.kubernetes.io/controller-uid': uid },
  };
}
