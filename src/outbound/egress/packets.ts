import protobuf from 'protobufjs/minimal.js';

/**
 * Packets of konnectivity's protocol (apiserver-network-proxy, konnectivity-client/proto/client/client.proto): a type in field 1, and
 * in another field a message that depends on it.
 *
 *     DIAL_REQ   2  protocol 1, address 2, random 3
 *     DIAL_RSP   3  error 1, connectID 2, random 3
 *     DATA       4  connectID 1, error 2, data 3
 *     CLOSE_REQ  5  connectID 1
 *     CLOSE_RSP  6  error 1, connectID 2
 *     DIAL_CLS   7  random 1
 */
export interface Packet {
  readonly type: PacketType | 'unknown';
  readonly connectId?: Int64 | undefined;
  readonly random?: Int64;
  readonly protocol?: string;
  readonly address?: string;
  readonly data?: Buffer;
  /** '' where there is none. */
  readonly error?: string;
}

/** 64-bit values of protobufjs. */
type Int64 = ReturnType<protobuf.Reader['int64']> | number;

const TYPES = ['DIAL_REQ', 'DIAL_RSP', 'CLOSE_REQ', 'CLOSE_RSP', 'DATA', 'DIAL_CLS'] as const;
type PacketType = (typeof TYPES)[number];

type FieldName = Exclude<keyof Packet, 'type'>;
type Message = readonly [field: number, fields: readonly (readonly [number, FieldName])[]];

const MESSAGES: Readonly<Record<PacketType, Message>> = {
  DIAL_REQ: [
    2,
    [
      [1, 'protocol'],
      [2, 'address'],
      [3, 'random'],
    ],
  ],
  DIAL_RSP: [
    3,
    [
      [1, 'error'],
      [2, 'connectId'],
      [3, 'random'],
    ],
  ],
  DATA: [
    4,
    [
      [1, 'connectId'],
      [2, 'error'],
      [3, 'data'],
    ],
  ],
  CLOSE_REQ: [5, [[1, 'connectId']]],
  CLOSE_RSP: [
    6,
    [
      [1, 'error'],
      [2, 'connectId'],
    ],
  ],
  DIAL_CLS: [7, [[1, 'random']]],
};

const VARINT = 0;
const BYTES = 2;

export function writePacket(packet: Packet): Buffer {
  if (packet.type === 'unknown') throw new Error('a packet has a type');
  const [field, fields] = MESSAGES[packet.type];
  const writer = protobuf.Writer.create();
  writer.uint32((1 << 3) | VARINT).int32(TYPES.indexOf(packet.type));
  writer.uint32((field << 3) | BYTES).fork();
  for (const [number, name] of fields) writeField(writer, number, packet[name]);
  return Buffer.from(writer.ldelim().finish());
}

function writeField(writer: protobuf.Writer, number: number, value: Packet[FieldName]): void {
  if (value === undefined) return;
  if (typeof value === 'string') writer.uint32((number << 3) | BYTES).string(value);
  else if (Buffer.isBuffer(value)) writer.uint32((number << 3) | BYTES).bytes(value);
  else writer.uint32((number << 3) | VARINT).int64(value);
}

/** Packets of other types, and fields that others have added, are left out. @throws Error */
export function readPacket(bytes: Buffer): Packet {
  const reader = protobuf.Reader.create(bytes);
  let type: Packet['type'] = 'DIAL_REQ';
  let message: Partial<Packet> = {};
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    const found = TYPES.find((one) => MESSAGES[one][0] === tag >>> 3);
    if (tag >>> 3 === 1) type = TYPES[reader.int32()] ?? 'unknown';
    else if (found !== undefined && (tag & 7) === BYTES)
      message = readMessage(reader, MESSAGES[found][1], reader.uint32());
    else reader.skipType(tag & 7);
  }
  return { error: '', ...message, type };
}

function readMessage(reader: protobuf.Reader, fields: Message[1], length: number): Partial<Packet> {
  const end = reader.pos + length;
  const values: Partial<Record<FieldName, Packet[FieldName]>> = {};
  while (reader.pos < end) {
    const tag = reader.uint32();
    const name = fields.find(([number]) => number === tag >>> 3)?.[1];
    if (name === undefined) reader.skipType(tag & 7);
    else if ((tag & 7) === VARINT) values[name] = reader.int64();
    else values[name] = name === 'data' ? Buffer.from(reader.bytes()) : reader.string();
  }
  return values as Partial<Packet>;
}
