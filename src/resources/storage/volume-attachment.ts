import { part, text } from '../../object/parts.ts';
import { age } from '../cells.ts';
import { column, define, nameColumn } from '../define.ts';
import { validateAttachment, validateAttachmentUpdate } from './validate-volume-attachment.ts';

export const volumeattachments = define({
  group: 'storage.k8s.io',
  resource: 'volumeattachments',
  kind: 'VolumeAttachment',
  namespaced: false,
  versions: [{ version: 'v1', type: 'storage/v1.VolumeAttachment' }],
  emptyStatus: { attached: false },
  statusResets: [['spec'], ['metadata']],
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
