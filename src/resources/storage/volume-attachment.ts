import type { ApiObject, ObjectMeta } from '../../api/object-meta.ts';
import { age, part, text } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { withStatusRules } from '../status-view.ts';
import { validateAttachment, validateAttachmentUpdate } from './validate-volume-attachment.ts';

const definition = define({
  group: 'storage.k8s.io',
  resource: 'volumeattachments',
  kind: 'VolumeAttachment',
  namespaced: false,
  versions: [{ version: 'v1', type: 'storage/v1.VolumeAttachment' }],
  emptyStatus: { attached: false },
  table: {
    columns: [
      nameColumn(),
      { ...column('Attacher'), format: 'name' },
      column('PV'),
      column('Node'),
      column('Attached', 0, 'boolean'),
      column('Age'),
    ],
    cells: (attachment, now) => {
      const spec = part(attachment, 'spec');
      return [
        attachment.metadata.name ?? '',
        text(spec.attacher),
        text(part(spec, 'source').persistentVolumeName),
        text(spec.nodeName),
        part(attachment, 'status').attached === true,
        age(attachment, now),
      ];
    },
  },
  strategy: {
    nameRule: 'dns-subdomain',
    tracksGeneration: false,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
    returnsDeletedObject: true,
    validate: validateAttachment,
    validateUpdate: validateAttachmentUpdate,
  },
});

export const volumeattachments = withStatusRules(definition, { prepare: keepMetadata });

/** Who writes the status of an attachment sets nothing else, not even labels (Kubernetes: ResetObjectMetaForStatus). */
function keepMetadata({ metadata }: ApiObject, old: ApiObject): void {
  for (const field of ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const) {
    restore(metadata, old.metadata, field);
  }
}

function restore(metadata: ObjectMeta, before: ObjectMeta, field: keyof ObjectMeta & string): void {
  if (before[field] === undefined) delete metadata[field];
  else metadata[field] = structuredClone(before[field]);
}
