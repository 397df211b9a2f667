/* Made by npm run openapi from docs/openapi.json: the bodies and answers of the API. */

/** The balance of your account. */
export interface Balance {
  /** The balance. */
  readonly xTokens: number;
  /** When it last changed. */
  readonly updatedAt: string;
  /** Your account, with `include=account`. */
  readonly account?: {
    readonly accountId: string;
    readonly name: string;
  } | undefined;
}

/** A creation was refused because it costs more than the balance. At most once an hour, and again only once the balance has changed. */
export interface BalanceExhaustedEvent {
  readonly type: "balance.exhausted";
  /** When it happened. */
  readonly timestamp: string;
  readonly data: {
    /** Your account: one URL may serve several. */
    readonly accountId: string;
    /** The balance then. */
    readonly xTokens: number;
    /** What the refused creation would have cost. */
    readonly required: number;
  };
}

/** One change of the balance. */
export interface BalanceHistoryEntry {
  /** `led_` and a ULID. */
  readonly id: string;
  readonly type: "debit" | "credit";
  readonly reason: "generation" | "refund" | "topup" | "admin_adjustment";
  /** In xTokens, at most 3 decimals; always positive. */
  readonly amount: number;
  /** The balance after this entry. */
  readonly balanceAfter: number;
  /** For `generation` and `refund` the `requestId`. */
  readonly reference: string;
  /** Never before that of the entry before it. */
  readonly createdAt: string;
}

/** One page of a list. */
export interface BalanceHistoryPage {
  readonly items: readonly BalanceHistoryEntry[];
  /** As asked. */
  readonly page: number;
  /** As asked. */
  readonly pageSize: number;
  /** Whether the next page holds at least one item. */
  readonly hasMore: boolean;
}

/** A debit took the balance below the threshold. Sent to the URL that the operator set for the account. */
export interface BalanceLowEvent {
  readonly type: "balance.low";
  /** When it happened. */
  readonly timestamp: string;
  readonly data: {
    /** Your account: one URL may serve several. */
    readonly accountId: string;
    /** The balance then. */
    readonly xTokens: number;
    /** The threshold. */
    readonly below: number;
  };
}

/** What an end-user may spend. */
export interface Budget {
  /** xTokens in a UTC day, with at most 3 decimals; `null`: any amount. */
  readonly perDay?: number | null | undefined;
  /** xTokens in a calendar month (UTC), with at most 3 decimals; `null`: any amount. */
  readonly perMonth?: number | null | undefined;
}

/** A bulk deletion. */
export interface BulkDelete {
  /** At most 200 ids, of images and videos. */
  readonly requestIds: readonly string[];
}

/** The outcome of a bulk deletion. What is in neither list is deleted. */
export interface BulkDeletion {
  /** Distinct ids given. */
  readonly requested: number;
  /** Requests that this call removed. */
  readonly deleted: number;
  /** Files removed. Those of an expired request are gone already and do not count. */
  readonly removedObjects: number;
  /** Ids that are unfinished, or could not be deleted in the time of the call: repeat it later. */
  readonly conflicts: readonly string[];
  /** Ids that are not yours or already gone. */
  readonly notFound: readonly string[];
}

/** What this call removed. Calls before it that ended with 503 are not counted. */
export interface DeletedEndUser {
  /** Normalized: it identifies the end-user. */
  readonly email: string;
  readonly deleted: true;
  /** Requests removed. */
  readonly removedRequests: number;
  /** Files removed. Those of expired requests are gone already and do not count. */
  readonly removedObjects: number;
}

/** The outcome of a deletion. */
export interface DeletedRequest {
  readonly requestId: string;
  readonly deleted: true;
  /** Files removed. Those of an expired request are gone already and do not count. */
  readonly removedObjects: number;
}

/** One of your own users. */
export interface EndUser {
  /** Normalized: it identifies the end-user. */
  readonly email: string;
  /** When their first request was accepted. */
  readonly createdAt: string;
  /** When their last request was accepted. */
  readonly lastActiveAt: string;
  /** Requests accepted. */
  readonly totalRequests: number;
  /** Spent in xTokens, less refunds. */
  readonly totalXTokensSpent: number;
  /** Since when; `null` when not blocked. */
  readonly blockedAt: string | null;
}

/** Whether an end-user is blocked. */
export interface EndUserBlock {
  /** Normalized: it identifies the end-user. */
  readonly email: string;
  /** Since when; `null` when not blocked. */
  readonly blockedAt: string | null;
}

/** Limits on the spending of an end-user, and the spending less refunds. A refund counts on the day of its debit. */
export interface EndUserBudget {
  /** Normalized: it identifies the end-user. */
  readonly email: string;
  /** The most to spend in a UTC day; `null`: any amount. */
  readonly perDay: number | null;
  /** The most to spend in a calendar month, in UTC; `null`: any amount. */
  readonly perMonth: number | null;
  /** Spent in xTokens in this UTC day. */
  readonly spentToday: number;
  /** Spent in xTokens in this calendar month. */
  readonly spentThisMonth: number;
}

/** One page of a list. */
export interface EndUserPage {
  readonly items: readonly EndUser[];
  /** As asked. */
  readonly page: number;
  /** As asked. */
  readonly pageSize: number;
  /** Whether the next page holds at least one item. */
  readonly hasMore: boolean;
}

/** Branch on this. The status follows from it. */
export type ErrorCode = "validation_error" | "unauthorized" | "account_blocked" | "payment_required" | "forbidden" | "not_found" | "conflict" | "content_policy" | "rate_limited" | "provider_timeout" | "provider_error" | "internal_error" | "temporarily_unavailable";

/** It succeeded, and its files are gone. */
export interface ExpiredImages {
  /** `img_` or `vid_` and a ULID. Ids of a kind sort by creation time. */
  readonly requestId: string;
  /** The id of a model. */
  readonly model: string;
  /** Trimmed. */
  readonly prompt: string;
  /** Number of reference images. */
  readonly referencesCount: number;
  /** Normalized. */
  readonly endUserEmail: string;
  /** When the request was accepted. */
  readonly createdAt: string;
  readonly input?: ImageInput | undefined;
  readonly status: "expired";
  /** When the request ended. */
  readonly finishedAt: string;
}

/** It succeeded, and its files are gone. */
export interface ExpiredVideo {
  /** `img_` or `vid_` and a ULID. Ids of a kind sort by creation time. */
  readonly requestId: string;
  /** The id of a model. */
  readonly model: string;
  /** Trimmed. */
  readonly prompt: string;
  /** Normalized. */
  readonly endUserEmail: string;
  /** When the request was accepted. */
  readonly createdAt: string;
  readonly input?: VideoInput | undefined;
  readonly status: "expired";
  /** When the request ended. */
  readonly finishedAt: string;
}

/** Bounds of an explicit `<width>x<height>`. Ratios are width divided by height, sides are pixels. */
export interface ExplicitSizeBounds {
  readonly minTotalPixels: number;
  readonly maxTotalPixels: number;
  readonly minAspectRatio: number;
  readonly maxAspectRatio: number;
  readonly minSide?: number | undefined;
  readonly maxSide?: number | undefined;
}

/** Ended without an output, and refunded in full. */
export interface FailedImages {
  /** `img_` or `vid_` and a ULID. Ids of a kind sort by creation time. */
  readonly requestId: string;
  /** The id of a model. */
  readonly model: string;
  /** Trimmed. */
  readonly prompt: string;
  /** Number of reference images. */
  readonly referencesCount: number;
  /** Normalized. */
  readonly endUserEmail: string;
  /** When the request was accepted. */
  readonly createdAt: string;
  readonly input?: ImageInput | undefined;
  readonly status: "failed";
  readonly error: Failure;
  /** When the request ended. */
  readonly finishedAt: string;
}

/** Ended without an output, and refunded in full. */
export interface FailedVideo {
  /** `img_` or `vid_` and a ULID. Ids of a kind sort by creation time. */
  readonly requestId: string;
  /** The id of a model. */
  readonly model: string;
  /** Trimmed. */
  readonly prompt: string;
  /** Normalized. */
  readonly endUserEmail: string;
  /** When the request was accepted. */
  readonly createdAt: string;
  readonly input?: VideoInput | undefined;
  readonly status: "failed";
  readonly error: Failure;
  /** When the request ended. */
  readonly finishedAt: string;
}

/** Why a request failed. Everything it was debited is refunded. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
}

/** Images failed. */
export interface GenerationFailedEvent {
  readonly type: "generation.failed";
  /** When the request ended: its `finishedAt`. */
  readonly timestamp: string;
  readonly data: FailedImages;
}

/** One page of a list. */
export interface GenerationPage {
  readonly items: readonly GenerationRecord[];
  /** As asked. */
  readonly page: number;
  /** As asked. */
  readonly pageSize: number;
  /** Whether the next page holds at least one item. */
  readonly hasMore: boolean;
  /** Only with `model`: the page ends before it is full, because 1000 requests were searched for it. Give this as `createdBefore`, with `page` 1, to go on. */
  readonly nextCreatedBefore?: string | undefined;
}

/** A request for images. `status` says which fields it has. */
export type GenerationRecord = QueuedImages | ProcessingImages | SucceededImages | FailedImages | ExpiredImages;

/** Images succeeded. After `expiresAt` the record is an expired one. */
export interface GenerationSucceededEvent {
  readonly type: "generation.succeeded";
  /** When the request ended: its `finishedAt`. */
  readonly timestamp: string;
  readonly data: SucceededImages | ExpiredImages;
}

/** What was asked of images beside the prompt, with defaults applied: the fields of a creation. URLs are without their query, which may hold a signature. */
export interface ImageInput {
  /** One of the `sizePresets` of the model, or `<width>x<height>` within its `explicitSize`. Default: its `defaultSize`. */
  readonly size: string;
  /** Default: `auto`, the only one with an explicit size. */
  readonly aspectRatio: string;
  /** URLs of reference images, at most `maxReferences` of the model. */
  readonly references: readonly string[];
  /** Where `parameters` of the model has it: makes a repetition similar. Of several calls to the provider, each gets the next one. */
  readonly seed?: number | undefined;
  /** Where `parameters` of the model has it: what shall not be seen. */
  readonly negativePrompt?: string | undefined;
  /** Where `parameters` of the model has it: whether its maker rewrites the prompt first. Default: the maker's. */
  readonly promptExtend?: boolean | undefined;
  /** Where to send the result. An absolute `https:` URL on a public host, without user information. */
  readonly webhookUrl?: string | undefined;
  /** Images to make, at most `maxImagesPerRequest` of the model; only 1 with `sequential`. Default: 1. */
  readonly n: number;
  /** A series of related images, where `capabilities.sequential` of the model is true. */
  readonly sequential?: "auto" | undefined;
  /** Only with `sequential`. */
  readonly sequentialOptions?: {
    /** Most images of the series. */
    readonly maxImages: number;
  } | undefined;
}

/** One image. It has either `url` or `error`. */
export type ImageItem = StoredImage | LostImage;

/** A model that makes images, with every limit it enforces. */
export interface ImageModel {
  readonly id: string;
  readonly type: "image";
  /** The route that creates its requests: `POST /v1/generations`. */
  readonly endpoint: string;
  readonly billing: "per_image";
  /** The presets that `size` takes. */
  readonly sizePresets: readonly ("1K" | "1.5K" | "2K" | "4K")[];
  readonly defaultSize: "1K" | "1.5K" | "2K" | "4K";
  readonly explicitSize: ExplicitSizeBounds;
  readonly aspectRatios: readonly ("auto" | "square" | "landscape" | "portrait")[];
  /** Most `references`; 0: it takes none. */
  readonly maxReferences: number;
  /** Most images in a request. */
  readonly maxImagesPerRequest: number;
  readonly capabilities: {
    /** Whether it takes `sequential`. */
    readonly sequential: boolean;
  };
  /** Only with `include=inputs`: limits on input files, by the media that the model takes. A file beyond them is refused; one within them can still be. */
  readonly inputs?: {
    readonly image?: InputFileLimits | undefined;
    readonly video?: InputFileLimits | undefined;
    readonly audio?: InputFileLimits | undefined;
  } | undefined;
  /** Absent: it takes none of them. */
  readonly parameters?: readonly ModelParameter[] | undefined;
  /** Only of a model whose end is announced: from then on its creations are refused with 400 on `model`. */
  readonly retiresAt?: string | undefined;
  /** The model to use in its place. */
  readonly replacedBy?: string | undefined;
  /** Only where the operator publishes rates: xTokens an image, by the first tier whose `maxPixels` its size does not exceed; null is any size. */
  readonly rate?: {
    readonly perImage: readonly ({
      readonly maxPixels: number | null;
      readonly xTokens: number;
    })[];
  } | undefined;
}

/** The id of a model for images. `GET /v1/models` lists those on offer now. */
export type ImageModelId = "xSD4.5" | "xSD5Pro" | "xQI3Pro" | "xZI1.0Pro" | (string & {});

/** Limits of a model on each input file of a medium. Absent: no limit that is known. Sides are pixels. */
export interface InputFileLimits {
  /** The content types that it takes. */
  readonly types: readonly string[];
  /** Most bytes of an upload. */
  readonly maxBytes: number;
  /** Shortest side. */
  readonly minSide?: number | undefined;
  /** Longest side. */
  readonly maxSide?: number | undefined;
  /** Most pixels. */
  readonly maxPixels?: number | undefined;
  /** Largest ratio of the longer side to the shorter. */
  readonly maxRatio?: number | undefined;
  /** A PNG must have no alpha channel. */
  readonly alpha?: false | undefined;
  /** Shortest length. */
  readonly minSeconds?: number | undefined;
  /** Longest length. */
  readonly maxSeconds?: number | undefined;
  /** Longest length of all files of the medium together. */
  readonly maxTotalSeconds?: number | undefined;
  /** Fewest frames a second. */
  readonly minFramesPerSecond?: number | undefined;
}

/** An image that could not be stored. */
export interface LostImage {
  /** `<requestId>_<index>`, counted from 0. */
  readonly id: string;
  /** When the file is removed. Set when the request ended; a read does not move it. */
  readonly expiresAt: string;
  readonly error: StorageFailed;
  /** `<width>x<height>` in pixels, of the stored file. */
  readonly size: string;
}

/** A video that could not be stored. */
export interface LostVideo {
  /** `<requestId>_<index>`, counted from 0. */
  readonly id: string;
  /** When the file is removed. Set when the request ended; a read does not move it. */
  readonly expiresAt: string;
  readonly error: StorageFailed;
  /** Seconds of the stored file. */
  readonly duration: number;
  /** As requested, such as `1080p`. */
  readonly resolution: string;
}

/** A model with every limit it enforces. */
export type Model = ImageModel | VideoModel;

/** A field of a creation that the model takes and others do not, with the range of its values: of a number `min` to `max`, of a text its characters. */
export interface ModelParameter {
  readonly name: "seed" | "negativePrompt" | "generateAudio" | "promptExtend";
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly maxCharacters?: number | undefined;
}

/** The models that can be used right now. */
export interface Models {
  readonly data: readonly Model[];
}

/** A creation of images. */
export interface NewGeneration {
  /** A model that `GET /v1/models` lists now. */
  readonly model: ImageModelId;
  /** 1 to 4000 characters (code points) after trimming. */
  readonly prompt: string;
  /** Your own user, created on first use. An email address of at most 254 visible characters once it is trimmed, normalized (NFKC) and lower-cased. */
  readonly endUserEmail: string;
  /** Where to send the result. An absolute `https:` URL on a public host, without user information. */
  readonly webhookUrl?: string | undefined;
  /** One of the `sizePresets` of the model, or `<width>x<height>` within its `explicitSize`. Default: its `defaultSize`. */
  readonly size?: string | undefined;
  /** Default: `auto`, the only one with an explicit size. */
  readonly aspectRatio?: "auto" | "square" | "landscape" | "portrait" | undefined;
  /** Images to make, at most `maxImagesPerRequest` of the model; only 1 with `sequential`. Default: 1. */
  readonly n?: number | undefined;
  /** URLs of reference images, at most `maxReferences` of the model. */
  readonly references?: readonly string[] | undefined;
  /** A series of related images, where `capabilities.sequential` of the model is true. */
  readonly sequential?: "auto" | undefined;
  /** Only with `sequential`. */
  readonly sequentialOptions?: {
    /** Most images of the series: with the number of references at most `maxImagesPerRequest` of the model, which is the default. */
    readonly maxImages?: number | undefined;
  } | undefined;
  /** Where `parameters` of the model has it: makes a repetition similar. Of several calls to the provider, each gets the next one. */
  readonly seed?: number | undefined;
  /** Where `parameters` of the model has it: what shall not be seen. */
  readonly negativePrompt?: string | undefined;
  /** Where `parameters` of the model has it: whether its maker rewrites the prompt first. Default: the maker's. */
  readonly promptExtend?: boolean | undefined;
}

/** The body of a creation, and its `kind`. */
export type NewQuote = QuotedGeneration | QuotedVideo;

/** A file to upload. */
export interface NewUpload {
  /** The type of the file. It is sent, stored and served as this type. */
  readonly contentType: "image/jpeg" | "image/png" | "image/webp" | "image/bmp" | "image/tiff" | "image/gif" | "image/heic" | "image/heif" | "video/mp4" | "video/quicktime" | "audio/mpeg" | "audio/wav";
  /** The exact size of the file: at most 31,457,280 (30 MiB) for images, 104,857,600 (100 MiB) for videos. */
  readonly bytes: number;
}

/** A creation of a video. */
export interface NewVideo {
  /** A model that `GET /v1/models` lists now. */
  readonly model: VideoModelId;
  /** 1 to 4000 characters (code points) after trimming. */
  readonly prompt: string;
  /** Your own user, created on first use. An email address of at most 254 visible characters once it is trimmed, normalized (NFKC) and lower-cased. */
  readonly endUserEmail: string;
  /** Where to send the result. An absolute `https:` URL on a public host, without user information. */
  readonly webhookUrl?: string | undefined;
  /** One of the `resolutions` of the model. Default: its `defaultResolution`. */
  readonly resolution?: string | undefined;
  /** Seconds, within `durationSec` of the model, which also has the default. */
  readonly durationSec?: number | undefined;
  /** URL of the first frame. Required where `requiresImage` of the model is true. */
  readonly image?: string | undefined;
  /** URL of the last frame; only together with `image`. */
  readonly lastFrame?: string | undefined;
  /** URLs, at most `maxReferenceImages` of the model; not with `image` or `lastFrame`. */
  readonly referenceImages?: readonly string[] | undefined;
  /** URLs, at most `maxReferenceVideos` of the model; not with `image` or `lastFrame`. Each is measured: at most `referenceVideoMaxSeconds`, and `maxCombinedSeconds` together with the output. */
  readonly referenceVideos?: readonly string[] | undefined;
  /** URLs, at most `maxReferenceAudios` of the model; not with `image` or `lastFrame`. */
  readonly referenceAudios?: readonly string[] | undefined;
  /** One of the `ratios` of the model; refused on a model without them. */
  readonly ratio?: string | undefined;
  /** Where `parameters` of the model has it: makes a repetition similar. Of several calls to the provider, each gets the next one. */
  readonly seed?: number | undefined;
  /** Where `parameters` of the model has it: what shall not be seen. */
  readonly negativePrompt?: string | undefined;
  /** Where `parameters` of the model has it: whether the video has sound. Default: what the operator set. */
  readonly generateAudio?: boolean | undefined;
  /** Where `parameters` of the model has it: whether its maker rewrites the prompt first. Default: the maker's. */
  readonly promptExtend?: boolean | undefined;
}

/** A provider is working on it. */
export interface ProcessingImages {
  /** `img_` or `vid_` and a ULID. Ids of a kind sort by creation time. */
  readonly requestId: string;
  /** The id of a model. */
  readonly model: string;
  /** Trimmed. */
  readonly prompt: string;
  /** Number of reference images. */
  readonly referencesCount: number;
  /** Normalized. */
  readonly endUserEmail: string;
  /** When the request was accepted. */
  readonly createdAt: string;
  readonly input?: ImageInput | undefined;
  readonly status: "processing";
}

/** A provider is working on it. */
export interface ProcessingVideo {
  /** `img_` or `vid_` and a ULID. Ids of a kind sort by creation time. */
  readonly requestId: string;
  /** The id of a model. */
  readonly model: string;
  /** Trimmed. */
  readonly prompt: string;
  /** Normalized. */
  readonly endUserEmail: string;
  /** When the request was accepted. */
  readonly createdAt: string;
  readonly input?: VideoInput | undefined;
  readonly status: "processing";
}

/** Marks of the maker that the file carries. They are detected, not verified. Absent for none. */
export interface Provenance {
  /** The file carries a C2PA manifest. */
  readonly c2pa: true;
}

/** Accepted, not yet at a provider. */
export interface QueuedImages {
  /** `img_` or `vid_` and a ULID. Ids of a kind sort by creation time. */
  readonly requestId: string;
  /** The id of a model. */
  readonly model: string;
  /** Trimmed. */
  readonly prompt: string;
  /** Number of reference images. */
  readonly referencesCount: number;
  /** Normalized. */
  readonly endUserEmail: string;
  /** When the request was accepted. */
  readonly createdAt: string;
  readonly input?: ImageInput | undefined;
  readonly status: "queued";
  /** Where to read this record. */
  readonly pollUrl: string;
}

/** Accepted, not yet at a provider. */
export interface QueuedVideo {
  /** `img_` or `vid_` and a ULID. Ids of a kind sort by creation time. */
  readonly requestId: string;
  /** The id of a model. */
  readonly model: string;
  /** Trimmed. */
  readonly prompt: string;
  /** Normalized. */
  readonly endUserEmail: string;
  /** When the request was accepted. */
  readonly createdAt: string;
  readonly input?: VideoInput | undefined;
  readonly status: "queued";
  /** Where to read this record. */
  readonly pollUrl: string;
}

/** What a creation would cost now. */
export interface Quote {
  /** The debit of the creation. */
  readonly xTokens: number;
  /** The balance now. */
  readonly balance: number;
  /** Whether the balance and each budget suffice now. */
  readonly covered: boolean;
  /** Empty without a budget. */
  readonly budgets: readonly QuotedBudget[];
}

/** A budget that would count the request. */
export interface QuotedBudget {
  /** Whose budget it is. */
  readonly of: "endUser" | "apiKey";
  /** A UTC day, or a calendar month in UTC. */
  readonly per: "day" | "month";
  /** The most to spend. */
  readonly limit: number;
  /** Spent so far, less refunds, in xTokens. */
  readonly spent: number;
  /** When the count begins anew. */
  readonly renewsAt: string;
}

/** A creation that is only to be priced. */
export interface QuotedGeneration {
  /** What the creation would make. */
  readonly kind: "image";
  /** A model that `GET /v1/models` lists now. */
  readonly model: ImageModelId;
  /** 1 to 4000 characters (code points) after trimming. */
  readonly prompt: string;
  /** Your own user, created on first use. An email address of at most 254 visible characters once it is trimmed, normalized (NFKC) and lower-cased. */
  readonly endUserEmail: string;
  /** Where to send the result. An absolute `https:` URL on a public host, without user information. */
  readonly webhookUrl?: string | undefined;
  /** One of the `sizePresets` of the model, or `<width>x<height>` within its `explicitSize`. Default: its `defaultSize`. */
  readonly size?: string | undefined;
  /** Default: `auto`, the only one with an explicit size. */
  readonly aspectRatio?: "auto" | "square" | "landscape" | "portrait" | undefined;
  /** Images to make, at most `maxImagesPerRequest` of the model; only 1 with `sequential`. Default: 1. */
  readonly n?: number | undefined;
  /** URLs of reference images, at most `maxReferences` of the model. */
  readonly references?: readonly string[] | undefined;
  /** A series of related images, where `capabilities.sequential` of the model is true. */
  readonly sequential?: "auto" | undefined;
  /** Only with `sequential`. */
  readonly sequentialOptions?: {
    /** Most images of the series: with the number of references at most `maxImagesPerRequest` of the model, which is the default. */
    readonly maxImages?: number | undefined;
  } | undefined;
  /** Where `parameters` of the model has it: makes a repetition similar. Of several calls to the provider, each gets the next one. */
  readonly seed?: number | undefined;
  /** Where `parameters` of the model has it: what shall not be seen. */
  readonly negativePrompt?: string | undefined;
  /** Where `parameters` of the model has it: whether its maker rewrites the prompt first. Default: the maker's. */
  readonly promptExtend?: boolean | undefined;
}

/** A creation that is only to be priced. */
export interface QuotedVideo {
  /** What the creation would make. */
  readonly kind: "video";
  /** A model that `GET /v1/models` lists now. */
  readonly model: VideoModelId;
  /** 1 to 4000 characters (code points) after trimming. */
  readonly prompt: string;
  /** Your own user, created on first use. An email address of at most 254 visible characters once it is trimmed, normalized (NFKC) and lower-cased. */
  readonly endUserEmail: string;
  /** Where to send the result. An absolute `https:` URL on a public host, without user information. */
  readonly webhookUrl?: string | undefined;
  /** One of the `resolutions` of the model. Default: its `defaultResolution`. */
  readonly resolution?: string | undefined;
  /** Seconds, within `durationSec` of the model, which also has the default. */
  readonly durationSec?: number | undefined;
  /** URL of the first frame. Required where `requiresImage` of the model is true. */
  readonly image?: string | undefined;
  /** URL of the last frame; only together with `image`. */
  readonly lastFrame?: string | undefined;
  /** URLs, at most `maxReferenceImages` of the model; not with `image` or `lastFrame`. */
  readonly referenceImages?: readonly string[] | undefined;
  /** URLs, at most `maxReferenceVideos` of the model; not with `image` or `lastFrame`. Each is measured: at most `referenceVideoMaxSeconds`, and `maxCombinedSeconds` together with the output. */
  readonly referenceVideos?: readonly string[] | undefined;
  /** URLs, at most `maxReferenceAudios` of the model; not with `image` or `lastFrame`. */
  readonly referenceAudios?: readonly string[] | undefined;
  /** One of the `ratios` of the model; refused on a model without them. */
  readonly ratio?: string | undefined;
  /** Where `parameters` of the model has it: makes a repetition similar. Of several calls to the provider, each gets the next one. */
  readonly seed?: number | undefined;
  /** Where `parameters` of the model has it: what shall not be seen. */
  readonly negativePrompt?: string | undefined;
  /** Where `parameters` of the model has it: whether the video has sound. Default: what the operator set. */
  readonly generateAudio?: boolean | undefined;
  /** Where `parameters` of the model has it: whether its maker rewrites the prompt first. Default: the maker's. */
  readonly promptExtend?: boolean | undefined;
}

/** Stands in place of `url` when the output could not be stored. It is refunded. */
export interface StorageFailed {
  readonly code: "storage_failed";
}

/** An image that can be fetched. */
export interface StoredImage {
  /** `<requestId>_<index>`, counted from 0. */
  readonly id: string;
  /** When the file is removed. Set when the request ended; a read does not move it. */
  readonly expiresAt: string;
  /** A signed URL, valid until `expiresAt`. Each read signs anew. Fetch it without the API key. */
  readonly url: string;
  /** `<width>x<height>` in pixels, of the stored file. */
  readonly size: string;
  readonly provenance?: Provenance | undefined;
}

/** A video that can be fetched. */
export interface StoredVideo {
  /** `<requestId>_<index>`, counted from 0. */
  readonly id: string;
  /** When the file is removed. Set when the request ended; a read does not move it. */
  readonly expiresAt: string;
  /** A signed URL, valid until `expiresAt`. Each read signs anew. Fetch it without the API key. */
  readonly url: string;
  /** Seconds of the stored file. */
  readonly duration: number;
  /** As requested, such as `1080p`. */
  readonly resolution: string;
  readonly provenance?: Provenance | undefined;
}

/** The outputs can be fetched until their `expiresAt`. */
export interface SucceededImages {
  /** `img_` or `vid_` and a ULID. Ids of a kind sort by creation time. */
  readonly requestId: string;
  /** The id of a model. */
  readonly model: string;
  /** Trimmed. */
  readonly prompt: string;
  /** Number of reference images. */
  readonly referencesCount: number;
  /** Normalized. */
  readonly endUserEmail: string;
  /** When the request was accepted. */
  readonly createdAt: string;
  readonly input?: ImageInput | undefined;
  readonly status: "succeeded";
  readonly images: readonly ImageItem[];
  /** The debit less refunds, in xTokens. Undelivered outputs are refunded. */
  readonly cost: number;
  /** The seed that the maker of the model reports, where it does; of several calls that of the first. */
  readonly seed?: number | undefined;
  /** When the request ended. */
  readonly finishedAt: string;
}

/** The outputs can be fetched until their `expiresAt`. */
export interface SucceededVideo {
  /** `img_` or `vid_` and a ULID. Ids of a kind sort by creation time. */
  readonly requestId: string;
  /** The id of a model. */
  readonly model: string;
  /** Trimmed. */
  readonly prompt: string;
  /** Normalized. */
  readonly endUserEmail: string;
  /** When the request was accepted. */
  readonly createdAt: string;
  readonly input?: VideoInput | undefined;
  readonly status: "succeeded";
  readonly videos: readonly VideoItem[];
  /** The debit less refunds, in xTokens. Undelivered outputs are refunded. */
  readonly cost: number;
  /** The seed that the maker of the model reports, where it does; of several calls that of the first. */
  readonly seed?: number | undefined;
  /** When the request ended. */
  readonly finishedAt: string;
}

/** Where to send a file, and its URL afterwards. */
export interface Upload {
  readonly uploadId: string;
  /** The URL that names the file in your own creations, as a reference, frame or clip. It cannot be fetched. */
  readonly url: string;
  /** The form that takes the file, within 15 minutes. */
  readonly upload: {
    /** Where to send the form, by POST as `multipart/form-data`. */
    readonly url: string;
    /** The fields of the form. The file follows them as `file`, last. */
    readonly fields: Readonly<Record<string, string>>;
  };
  /** When the file can no longer be used, two days from now. */
  readonly expiresAt: string;
}

/** Debits and refunds between two dates, as the ledger has them. */
export interface Usage {
  /** The first day. */
  readonly from: string;
  /** The day after the last. */
  readonly to: string;
  readonly by: readonly ("day" | "model" | "endUser" | "key")[];
  /** In the order of `by`; none without it. */
  readonly items: readonly UsageItem[];
  readonly total: {
    /** Requests that were debited. */
    readonly requests: number;
    /** Their debits. */
    readonly debited: number;
    /** Refunds. */
    readonly refunded: number;
    /** `debited` minus `refunded`; negative where more was refunded than debited. */
    readonly xTokens: number;
  };
}

/** The usage of one group, with the fields of the dimensions asked for. */
export interface UsageItem {
  /** With `day`: a date in UTC. */
  readonly day?: string | undefined;
  /** With `model`. Null if unknown. */
  readonly model?: string | null | undefined;
  /** With `endUser`. Null for end-users that were deleted. */
  readonly endUserEmail?: string | null | undefined;
  /** With `key`. Null if unknown. */
  readonly keyId?: string | null | undefined;
  /** Requests that were debited. */
  readonly requests: number;
  /** Their debits. */
  readonly debited: number;
  /** Refunds. */
  readonly refunded: number;
  /** `debited` minus `refunded`; negative where more was refunded than debited. */
  readonly xTokens: number;
}

/** A video failed. */
export interface VideoFailedEvent {
  readonly type: "video.failed";
  /** When the request ended: its `finishedAt`. */
  readonly timestamp: string;
  readonly data: FailedVideo;
}

/** What was asked of a video beside the prompt, with defaults applied: the fields of a creation. URLs are without their query, which may hold a signature. */
export interface VideoInput {
  /** One of the `resolutions` of the model. Default: its `defaultResolution`. */
  readonly resolution: string;
  /** Seconds, within `durationSec` of the model, which also has the default. */
  readonly durationSec: number;
  /** One of the `ratios` of the model; refused on a model without them. */
  readonly ratio?: string | undefined;
  /** URL of the first frame. Required where `requiresImage` of the model is true. */
  readonly image?: string | undefined;
  /** URL of the last frame; only together with `image`. */
  readonly lastFrame?: string | undefined;
  /** URLs, at most `maxReferenceImages` of the model; not with `image` or `lastFrame`. */
  readonly referenceImages: readonly string[];
  /** URLs, at most `maxReferenceVideos` of the model; not with `image` or `lastFrame`. Each is measured: at most `referenceVideoMaxSeconds`, and `maxCombinedSeconds` together with the output. */
  readonly referenceVideos: readonly string[];
  /** URLs, at most `maxReferenceAudios` of the model; not with `image` or `lastFrame`. */
  readonly referenceAudios: readonly string[];
  /** Where `parameters` of the model has it: makes a repetition similar. Of several calls to the provider, each gets the next one. */
  readonly seed?: number | undefined;
  /** Where `parameters` of the model has it: what shall not be seen. */
  readonly negativePrompt?: string | undefined;
  /** Where `parameters` of the model has it: whether the video has sound. Default: what the operator set. */
  readonly generateAudio?: boolean | undefined;
  /** Where `parameters` of the model has it: whether its maker rewrites the prompt first. Default: the maker's. */
  readonly promptExtend?: boolean | undefined;
  /** Where to send the result. An absolute `https:` URL on a public host, without user information. */
  readonly webhookUrl?: string | undefined;
}

/** One video. It has either `url` or `error`. */
export type VideoItem = StoredVideo | LostVideo;

/** A model that makes videos, with every limit it enforces. Durations are whole seconds. */
export interface VideoModel {
  readonly id: string;
  readonly type: "video";
  /** The route that creates its requests: `POST /v1/videos`. */
  readonly endpoint: string;
  readonly billing: "per_second";
  /** The values that `resolution` takes. */
  readonly resolutions: readonly string[];
  readonly defaultResolution: string;
  readonly durationSec: {
    readonly min: number;
    readonly max: number;
    readonly default: number;
  };
  /** Whether `image` is required. */
  readonly requiresImage: boolean;
  /** Inputs other than the prompt: `first_frame`, `last_frame`, `reference_images`, `reference_videos`, `reference_audios`. */
  readonly inputModes?: readonly string[] | undefined;
  /** Most `referenceImages`. */
  readonly maxReferenceImages?: number | undefined;
  /** Most `referenceVideos`. */
  readonly maxReferenceVideos?: number | undefined;
  /** Most `referenceAudios`. */
  readonly maxReferenceAudios?: number | undefined;
  /** The values that `ratio` takes. */
  readonly ratios?: readonly string[] | undefined;
  readonly defaultRatio?: string | undefined;
  /** Longest reference video. */
  readonly referenceVideoMaxSeconds?: number | undefined;
  /** Longest output and reference videos together. */
  readonly maxCombinedSeconds?: number | undefined;
  /** Only with `include=inputs`: limits on input files, by the media that the model takes. A file beyond them is refused; one within them can still be. */
  readonly inputs?: {
    readonly image?: InputFileLimits | undefined;
    readonly video?: InputFileLimits | undefined;
    readonly audio?: InputFileLimits | undefined;
  } | undefined;
  /** Absent: it takes none of them. */
  readonly parameters?: readonly ModelParameter[] | undefined;
  /** Only of a model whose end is announced: from then on its creations are refused with 400 on `model`. */
  readonly retiresAt?: string | undefined;
  /** The model to use in its place. */
  readonly replacedBy?: string | undefined;
  /** Only where the operator publishes rates: xTokens a second, by resolution. */
  readonly rate?: {
    readonly perSecond: Readonly<Record<string, number>>;
  } | undefined;
}

/** The id of a model for videos. `GET /v1/models` lists those on offer now. */
export type VideoModelId = "xW2.7S" | "xW3.0s" | "xW3.0sPro" | (string & {});

/** One page of a list. */
export interface VideoPage {
  readonly items: readonly VideoRecord[];
  /** As asked. */
  readonly page: number;
  /** As asked. */
  readonly pageSize: number;
  /** Whether the next page holds at least one item. */
  readonly hasMore: boolean;
  /** Only with `model`: the page ends before it is full, because 1000 requests were searched for it. Give this as `createdBefore`, with `page` 1, to go on. */
  readonly nextCreatedBefore?: string | undefined;
}

/** A request for a video. `status` says which fields it has. */
export type VideoRecord = QueuedVideo | ProcessingVideo | SucceededVideo | FailedVideo | ExpiredVideo;

/** A video succeeded. After `expiresAt` the record is an expired one. */
export interface VideoSucceededEvent {
  readonly type: "video.succeeded";
  /** When the request ended: its `finishedAt`. */
  readonly timestamp: string;
  readonly data: SucceededVideo | ExpiredVideo;
}

/** The body of a webhook. */
export type WebhookEvent = GenerationSucceededEvent | GenerationFailedEvent | VideoSucceededEvent | VideoFailedEvent | BalanceLowEvent | BalanceExhaustedEvent;
