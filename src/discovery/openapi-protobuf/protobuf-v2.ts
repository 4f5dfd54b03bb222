import type { JsonObject } from '../../api/object-meta.ts';
import { asObject } from '../../object/field-errors.ts';
import {
  any,
  type Body,
  double,
  either,
  encode,
  encoded,
  encodeInTurns,
  flag,
  integer,
  many,
  map,
  message,
  one,
  text,
  texts,
} from './protobuf-message.ts';

/** OpenAPI v2 documents as protobuf (package openapi.v2), with the fields that this server's documents have. */
export async function encodeOpenApiV2(document: JsonObject): Promise<Uint8Array> {
  const paths = await encodeInTurns(2, path, asObject(document.paths));
  const definitions = await encodeInTurns(1, schema, asObject(document.definitions));
  const body = message(
    {
      swagger: text(1),
      info: one(2, message({ title: text(1), version: text(2), description: text(3) }, 7)),
      paths: encoded(8, paths),
      definitions: encoded(9, definitions),
      parameters: one(10, (out, value) => map(1, parameter)(out, value)),
      security: many(12, map(1, texts(1))),
      securityDefinitions: one(13, map(1, one(2, apiKey))),
    },
    16,
  );
  return encode(body, document);
}

const apiKey = message({ type: text(1), name: text(2), in: text(3), description: text(4) }, 5);

/**
 * Encodes paths and definitions to append to a document. Readers of protobuf merge repeated messages (protobuf.dev, "Last One
 * Wins"), so that a document can be sent in pieces.
 */
export const encodeOpenApiV2Part = (part: JsonObject): Buffer =>
  encode((out, value) => partBody(out, value), part);

const schema: Body = (out, value) => schemaBody(out, value);

const schemaBody = message(
  {
    $ref: text(1),
    format: text(2),
    title: text(3),
    description: text(4),
    default: one(5, any),
    multipleOf: double(6),
    maximum: double(7),
    exclusiveMaximum: flag(8),
    minimum: double(9),
    exclusiveMinimum: flag(10),
    maxLength: integer(11),
    minLength: integer(12),
    pattern: text(13),
    maxItems: integer(14),
    minItems: integer(15),
    uniqueItems: flag(16),
    maxProperties: integer(17),
    minProperties: integer(18),
    required: texts(19),
    enum: many(20, any),
    additionalProperties: one(21, (out, value) =>
      typeof value === 'boolean' ? flag(2)(out, value) : one(1, schema)(out, value),
    ),
    type: one(22, texts(1)),
    items: one(23, one(1, schema)),
    allOf: many(24, schema),
    properties: one(25, map(1, schema)),
    externalDocs: one(29, message({ description: text(1), url: text(2) }, 3)),
    example: one(30, any),
  },
  31,
);

const bodyParameter = message(
  { description: text(1), name: text(2), in: text(3), required: flag(4), schema: one(5, schema) },
  6,
);
const queryParameter = message(
  {
    required: flag(1),
    in: text(2),
    description: text(3),
    name: text(4),
    type: text(6),
    format: text(7),
    uniqueItems: flag(20),
  },
  23,
);
const pathParameter = message(
  {
    required: flag(1),
    in: text(2),
    description: text(3),
    name: text(4),
    type: text(5),
    format: text(6),
    uniqueItems: flag(19),
  },
  22,
);

const nonBody = either(({ in: where }) =>
  where === 'path' ? one(4, pathParameter) : one(3, queryParameter),
);
const parameter = either(({ in: where }) => (where === 'body' ? one(1, bodyParameter) : one(2, nonBody)));
const reference = message({ $ref: text(1) });
const parameterItem = either(({ $ref }) => ($ref === undefined ? one(1, parameter) : one(2, reference)));

const response = message(
  {
    description: text(1),
    schema: one(
      2,
      either(() => one(1, schema)),
    ),
  },
  5,
);
const responses = map(
  1,
  either(() => one(1, response)),
);

const operation = message(
  {
    tags: texts(1),
    summary: text(2),
    description: text(3),
    operationId: text(5),
    produces: texts(6),
    consumes: texts(7),
    parameters: many(8, parameterItem),
    responses: one(9, responses),
    schemes: texts(10),
    deprecated: flag(11),
  },
  13,
);

const path = message(
  {
    get: one(2, operation),
    put: one(3, operation),
    post: one(4, operation),
    delete: one(5, operation),
    options: one(6, operation),
    head: one(7, operation),
    patch: one(8, operation),
    parameters: many(9, parameterItem),
  },
  10,
);

const partBody = message({ paths: one(8, map(2, path)), definitions: one(9, map(1, schema)) });
