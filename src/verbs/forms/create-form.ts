import type { ResourceDefinition } from '../../registry/definition.ts';
import { type Form, type FormOptions, isWhole, servedApiVersion, shownApiVersion } from '../form.ts';
import { ParsedForm } from './parsed-form.ts';
import { ParsedTableForm } from './parsed-table-form.ts';
import { ProtobufForm } from './protobuf-form.ts';
import type { Shown } from './shown.ts';
import { SplicedForm } from './spliced-form.ts';
import { TableForm } from './table-form.ts';

export function createForm(options: FormOptions): Form {
  const { representation, served, view } = options;
  const json = representation.format === 'json' && !representation.pretty;
  if (representation.as === 'table') return json ? new TableForm(options) : new ParsedTableForm(options);
  const stored = served.version.conversion === undefined && isWhole(view);
  if (json && stored) return spliced(options);
  if (representation.format === 'protobuf' && (stored || representation.as === 'object'))
    return new ProtobufForm(options, shownBy(options));
  return new ParsedForm(options);
}

/** Nearly all requests are answered in a handful of forms, which take as long to make as a small object takes to send. */
const remembered = new WeakMap<ResourceDefinition, Map<string, Form>>();

function spliced(options: FormOptions): Form {
  const { definition } = options.served;
  const shown = shownBy(options);
  const key = `${shown.kind} ${shown.apiVersion} ${options.representation.contentType}`;
  let forms = remembered.get(definition);
  if (forms === undefined) {
    forms = new Map();
    remembered.set(definition, forms);
  }
  let form = forms.get(key);
  if (form === undefined) {
    form = new SplicedForm(options, shown);
    forms.set(key, form);
  }
  return form;
}

function shownBy(options: FormOptions): Shown {
  const { served, representation, dialect } = options;
  const { kind, listKind } = served.definition;
  if (representation.as === 'object') {
    return { kind, listKind, apiVersion: servedApiVersion(served, dialect), metadataOnly: false };
  }
  return {
    kind: 'PartialObjectMetadata',
    listKind: 'PartialObjectMetadataList',
    apiVersion: shownApiVersion(options),
    metadataOnly: true,
  };
}
