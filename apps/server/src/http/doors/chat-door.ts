import type { Door } from "@gantry/wire";
import type { FastifyRequest } from "fastify";
import type {
  DoorChat,
  NativeEvent,
  ReadImage,
  Reply,
  TokenUsage,
  ToolCallPiece,
} from "../../features/predictions/index.ts";
import type { DoorError } from "./door-error.ts";

/** A chat protocol: how its requests are read, and how answers are written. */
export interface ChatDoor {
  door: Door;
  /** Backends of this type get the request as it is. */
  native?: "openai-chat" | "anthropic";
  /** The first event of a translated stream reports the input tokens, so they are counted even without a price. */
  countsInput?: boolean;
  /** Throws a fault that names the field, if the request is invalid in a way that matters to every backend. */
  read(body: Record<string, unknown>, request: FastifyRequest): DoorRequest | Promise<DoorRequest>;
}

export interface DoorRequest {
  stream: boolean;
  /** The output limit that the client gives. */
  maxTokens: number | undefined;
  /** Headers that a native backend gets. */
  nativeHeaders?: Record<string, string>;
  /** The body that a native backend gets, if it differs from the request's. */
  nativeBody?: Record<string, unknown>;
  /** Fields of an agent's input. */
  metadata: unknown;
  /**
   * The request as a chat call, for backends of other protocols and for agents. Throws faults that name the field.
   * `backend`: the type of a backend of the model, which decides about further fields; undefined for agents.
   * `withoutEarlier`: only what the request itself contains, because a thread has the stored turns before it.
   */
  translate(
    readImage: ReadImage,
    backend?: string,
    options?: { withoutEarlier?: boolean },
  ): Promise<Omit<DoorChat, "maxTokens" | "native">>;
  /** For agents. Set if the answer is stored and can be continued by its id. */
  chain?: {
    /** The run that the request continues, if an agent gave that answer. Rejects if the answer does not exist. */
    previousRun(): Promise<string | undefined>;
  };
  /** The body of an answer that is not streamed. */
  answer(end: ChatAnswered): Record<string, unknown>;
  /** The events of a streamed answer. */
  events(begun: ChatBegun): ChatEvents;
  /** Called before the end of the answer leaves, to store it. */
  settle?(end: ChatAnswered): Promise<void>;
}

export interface ChatBegun {
  /** Of the prediction or run. */
  id: string;
  /** As the client named the model. */
  modelName: string;
  createdAt: Date;
  /** Counted before the call. Only for doors that count the input. */
  inputTokens?: number | undefined;
}

export interface ChatAnswered extends ChatBegun {
  reply: Reply;
  usage: TokenUsage;
}

/** Writes the events of one answer: each method returns whole events, or nothing. */
export interface ChatEvents {
  text(text: string): string;
  reasoning(text: string): string;
  toolCall(piece: ToolCallPiece): string;
  /** For native backends: the event as the client gets it. */
  native?(event: NativeEvent): string;
  /** All events of an answer that is complete, if they differ from those of its pieces. */
  whole?(end: ChatAnswered): string;
  end(end: ChatAnswered): string;
  failed(error: DoorError, requestId: string): string;
}
