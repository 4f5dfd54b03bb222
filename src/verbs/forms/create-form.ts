import type { ResourceDefinition } from '../../registry/resource-definition.ts';
import { CborForm } from './cbor-form.ts';
import {
  type Form,
  type FormOptions,
  isStored,
  metaApiVersion,
  noTimeOf,
  type OutputType,
  servedApiVersion,
} from './form.ts';
import { ParsedForm, PrettyForm, SplicedForm } from './json-forms.ts';
import { ProtobufForm } from './protobuf-form.ts';
import { TableForm } from './table-form.ts';
import { ObjectValues, TableValues, type Values } from './values.ts';
import { YamlForm } from './yaml-form.ts';

export function createForm(options: FormOptions): Form {
  const { representation } = options;
  switch (representation.format) {
    case 'json':
      return representation.pretty ? new PrettyForm(compactForm(options)) : compactForm(options);
    case 'yaml':
      return new YamlForm(options, valuesOf(options));
    case 'cbor':
      return new CborForm(options, valuesOf(options));
    case 'protobuf':
      return new ProtobufForm(options, outputTypeOf(options));
    default:
      return representation.format satisfies never;
  }
}

const valuesOf = (options: FormOptions): Values =>
  options.representation.as === 'table'
    ? new TableValues(options, options.view?.table)
    : new ObjectValues(options, outputTypeOf(options));

function compactForm(options: FormOptions): Form {
  if (options.representation.as === 'table') {
    const { table } = options.view ?? {};
    return table === undefined
      ? new TableForm(options)
      : new ParsedForm(options, new TableValues(options, table));
  }
  if (isStored(options)) return spliced(options);
  return new ParsedForm(options, new ObjectValues(options, outputTypeOf(options)));
}

/** Forms are cached: nearly all requests use a few, and making one takes as long as sending a small object. */
const remembered = new WeakMap<ResourceDefinition, Map<string, Form>>();

function spliced(options: FormOptions): Form {
  const { definition } = options.served;
  const output = outputTypeOf(options);
  const key = `${output.kind} ${output.apiVersion} ${options.representation.contentType}`;
  let forms = remembered.get(definition);
  if (forms === undefined) {
    forms = new Map();
    remembered.set(definition, forms);
  }
  let form = forms.get(key);
  if (form === undefined) {
    form = new SplicedForm(options, output);
    forms.set(key, form);
  }
  return form;
}

function outputTypeOf(options: FormOptions): OutputType {
  const { served, representation, dialect, minor } = options;
  const sendsEmptyList = minor === 32 || minor === 33;
  const { kind, listKind, custom } = served.definition;
  if (representation.as === 'object') {
    const apiVersion = servedApiVersion(served, dialect);
    const noTime = noTimeOf(options, 'object');
    const typedItems = custom !== undefined;
    return { kind, listKind, apiVersion, noTime, metadataOnly: false, typedItems, sendsEmptyList };
  }
  return {
    kind: 'PartialObjectMetadata',
    listKind: 'PartialObjectMetadataList',
    apiVersion: metaApiVersion(options),
    noTime: noTimeOf(options, 'metadata'),
    metadataOnly: true,
    typedItems: true,
    sendsEmptyList,
  };
}
