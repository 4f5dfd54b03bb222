import type { JsonObject, JsonValue } from '../../api/object-meta.ts';
import { asObject } from '../../object/field-errors.ts';
import {
  any,
  type Body,
  double,
  either,
  flag,
  many,
  map,
  mapInTurns,
  message,
  one,
  text,
  texts,
} from './message.ts';

/** OpenAPI v3 documents as protobuf (package openapi.v3), with the fields that this server's documents have. */
export async function encodeOpenApiV3(document: JsonObject): Promise<Uint8Array> {
  const paths = await mapInTurns(1, path, asObject(document.paths));
  const schemas = await mapInTurns(1, schema, asObject(asObject(document.components).schemas));
  const body = message(
    {
      openapi: text(1),
      info: one(2, message({ title: text(1), description: text(2), version: text(6) }, 7)),
      paths: one(4, () => paths),
      components: one(5, message({ schemas: one(1, () => schemas) }, 10)),
    },
    9,
  );
  return body(document);
}

const reference = message({ $ref: text(1), summary: text(2), description: text(3) });
const orReference = (other: Body): Body =>
  either(({ $ref }) => ($ref === undefined ? one(1, other) : one(2, reference)));

const schema: Body = (value) => orReference(schemaBody)(value);

const schemaBody: Body = message(
  {
    nullable: flag(1),
    uniqueItems: flag(20),
    required: texts(23),
    enum: many(24, any),
    type: text(25),
    allOf: many(26, schema),
    oneOf: many(27, schema),
    anyOf: many(28, schema),
    items: one(30, (value) => message({ item: one(1, schema) })({ item: value })),
    properties: one(31, map(1, schema)),
    additionalProperties: one(
      32,
      either(() => one(1, schema)),
    ),
    default: one(33, (value) => defaultValue(value)),
    description: text(34),
    format: text(35),
  },
  36,
);

/** Only scalar defaults have a protobuf form; others are in the JSON document alone. */
const defaultValue: Body = (value: JsonValue) =>
  message({ number: double(1), boolean: flag(2), string: text(3) })(byType(value));
const byType = (value: JsonValue): JsonObject => (typeof value === 'object' ? {} : { [typeof value]: value });

const parameter = orReference(
  message(
    {
      name: text(1),
      in: text(2),
      description: text(3),
      required: flag(4),
      deprecated: flag(5),
      schema: one(10, schema),
    },
    14,
  ),
);
const content = map(1, message({ schema: one(1, schema) }, 5));
const requestBody = orReference(
  message({ description: text(1), content: one(2, content), required: flag(3) }, 4),
);
const response = orReference(message({ description: text(1), content: one(3, content) }, 5));

const operation = message(
  {
    tags: texts(1),
    summary: text(2),
    description: text(3),
    operationId: text(5),
    parameters: many(6, parameter),
    requestBody: one(7, requestBody),
    responses: one(8, map(2, response)),
    deprecated: flag(10),
  },
  13,
);

const path = message(
  {
    get: one(4, operation),
    put: one(5, operation),
    post: one(6, operation),
    delete: one(7, operation),
    options: one(8, operation),
    head: one(9, operation),
    patch: one(10, operation),
    parameters: many(13, parameter),
  },
  14,
);
