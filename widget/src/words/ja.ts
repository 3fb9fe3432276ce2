import form from '@inlay/ui/form/words/ja.ts';
import type { Words } from './en.ts';

const rows = (_count: number, number: string) => `${number} 行`;

export default {
  language: 'ja',
  form,

  loading: '読み込み中…',
  back: '戻る',
  cancel: 'キャンセル',
  tryAgain: '再試行',
  opensInNewTab: '（新しいタブで開きます）',
  rows,
  nothingNew: '新しいデータなし',

  choose: {
    title: 'データソースを接続',
    lead: 'データの取得元を選択してください。',
    offers: '利用できるデータソース',
    search: 'データソースを検索',
    found: (_count, number) => `${number} 件見つかりました`,
    nothingFound: (text) => `「${text}」に一致するデータソースはありません。`,
    showAll: 'すべて表示',
    connected: (_count, number) => `${number} 件接続済み`,
    yourSources: (_count, number) => `接続済みのデータソース（${number}）`,
  },

  empty: {
    title: '接続できるものはまだありません',
    text: '現在、接続できるデータソースはありません。利用できるようになると、ここに表示されます。',
  },

  connect: {
    title: (template) => `${template} を接続`,
    guide: '設定方法を見る',
    submit: 'テストして接続',
  },

  name: {
    label: '名前',
    hint: '一覧に表示される名前です。',
    missing: '名前を入力してください。',
    unusable: '255 文字以内で、制御文字を含まない名前を入力してください。',
  },

  steps: {
    label: '進行状況',
    checking: '入力内容を確認しています…',
    checked: '入力内容を確認しました',
    connect: '接続',
    connecting: '接続しています…',
    connected: '接続しました',
    save: '保存',
    saving: '保存しています…',
    firstSync: '初回の同期',
    done: '完了',
    failed: '失敗',
    patience: '1～2 分かかることがあります。',
  },

  problemOnOurSide: '当社側に問題があります。担当チームが確認できますので、変更していただく必要はありません。',
  signInEnded: 'サインインの有効期限が切れました。もう一度サインインしてください。',

  check: {
    warnings: '成功しました。ご確認ください',
    oneRecord: (stream) =>
      `${stream}: API がリストではなく 1 つのオブジェクトを返すため、1 行しか届きません。もっとあるはずの場合は、パスを確認してください。`,
    oneRecordOfList: (stream, path) =>
      `${stream}: API がリストではなく 1 つのオブジェクトを返すため、1 行しか届きません。リストはおそらく「${path}」にあります。これをレコードのパスとして入力してください。`,
    failed: '確認中に問題が見つかりました',
    noReason: 'データソースから理由が示されませんでした。入力内容を見直して、もう一度お試しください。',
    cancelled: '確認を中止しました。何も保存されていません。',
    unconfirmed: '接続できたかどうかを確認できませんでした',
    unconfirmedText:
      '応答が途中で失われました。二重に接続しないよう、もう一度試す前に接続済みのデータソースをご確認ください。',
  },

  discard: {
    title: '入力内容を破棄しますか？',
    text: '入力した内容はまだ保存されていません。',
    confirm: '破棄する',
    keep: '編集を続ける',
  },

  connected: {
    title: (name) => `${name} を接続しました`,
    pendingTitle: (name) => `${name} を接続しています`,
    failedTitle: (name) => `${name} を接続できませんでした`,
    waiting: '開始しています…',
    syncing: (rows) => `現在 ${rows}`,
    synced: (rows) => `${rows}を同期しました`,
    syncedWithoutCount: '完了',
    syncFailed: '失敗',
    syncCancelled: 'キャンセル済み',
    paused: '一時停止中',
    atNextRun: (when) => `${when}に開始します`,
    byHand: 'まだ開始していません',
    unknown: '現在は確認できません',
    leave: 'このままお待ちいただく必要はありません。処理は自動的に続きます。',
    nothingSynced: 'データソースは接続されました。データの同期はまだ行われていませんが、ほかに必要な操作はありません。',
    done: '完了',
    another: '別のデータソースを接続',
    openSettings: '設定を見直す',
  },

  list: {
    title: '接続済みのデータソース',
    add: 'データソースを追加',
    lastSync: (when) => `前回の同期：${when}`,
    nextSync: (when) => `次回：${when}`,
    notSynced: '未同期',
    statusUnknown: '現在、同期の状態を表示できません。データソースに影響はありません。',
  },

  states: {
    pending: '設定中',
    failed: '対応が必要',
    syncing: '同期中',
    sync_failed: '前回の同期に失敗',
    paused: '一時停止中',
    ready: '接続済み',
  },

  source: {
    parts: 'このデータソースの項目',
    activity: 'アクティビティ',
    settings: '設定',
    failed: 'このデータソースには対応が必要です',
    failedWithoutReason: '設定を完了できませんでした。設定を見直して、もう一度保存してください。',
    reviewSettings: '設定を見直す',
    pending: 'このデータソースは設定中です。処理は自動的に続きます。',
    nothingSynced: 'このデータソースは接続されています。データの同期はまだ行われていません。',
    syncTo: (destination) => `${destination} への同期`,
    syncNow: '今すぐ同期',
    syncing: '同期中…',
    syncStarted: '同期を開始しました',
    cancelSync: '同期をキャンセル',
    syncCancelled: '同期をキャンセルしました',
    failingSince: (when) => `${when} から失敗しています`,
    tryingAgain: (failing) => `${failing}（再試行中）`,
    failing: '同期に失敗しています',
    paused: '同期は一時停止中です。アカウントが再び有効になると再開されます。',
    pausedByTeam: '同期は一時停止中です。',
    notReady: 'この接続の状態が変わったため、同期を開始できませんでした。しばらくしてからもう一度お試しください。',
    history: '履歴',
    changes: {
      title: (_count, number) => `${number} 件の値はそのままの形で届きませんでした`,
      skipped: (_count, number) => `大きすぎるため ${number} 行をスキップしました (20 MB)`,
      notReplaced: 'データソースを最後まで読み取れたか確認できなかったため、以前の行を残しています。',
      nulled: (_count, number, field) => `フィールド ${field} の値 ${number} 件を保存できませんでした`,
      shortened: (_count, number, field) => `フィールド ${field} の値 ${number} 件を短縮しました`,
      not_a_number: (_count, number, field) =>
        `フィールド ${field} の値 ${number} 件は数値ではないため、空になりました`,
      left_out: (_count, number, field) => `フィールド ${field} の値 ${number} 件は、送信先に保存する場所がありません`,
      more: (_count, number) => `ほか ${number} 個のフィールド`,
    },
    quietRuns: (_count, number) => `新しいデータのない同期 ${number} 回`,
    noHistory: '同期はまだ行われていません。',
    showMore: 'さらに表示',
    save: 'テストして保存',
    rename: '名前を保存',
    saved: '変更を保存しました',
    notOffered: '現在、このデータソースの内容は変更できません。名前の変更と接続の解除は可能です。',
    goneTitle: 'このデータソースは存在しません',
    goneText: '別のウィンドウなどで、接続が解除された可能性があります。',
  },

  choice: {
    open: 'データとスケジュール',
    often: '頻度',
    every: (minutes) =>
      minutes < 60
        ? `${minutes}分ごと`
        : minutes === 60
          ? '1時間ごと'
          : minutes < 1_440
            ? `${minutes / 60}時間ごと`
            : minutes === 1_440
              ? '毎日'
              : '毎週',
    byHand: '自分で開始したときだけ',
    asNow: '現在の設定のまま',
    streams: '同期するデータ',
    save: '保存',
    soon: 'まもなく反映されます。',
  },

  jobs: {
    pending: '開始待ち',
    running: '実行中',
    incomplete: '再試行中',
    failed: '失敗',
    succeeded: '完了',
    cancelled: 'キャンセル済み',
  },

  disconnect: {
    heading: 'このデータソースの接続を解除',
    text: '同期が停止し、アクセス情報は削除されます。すでに届けられたデータはそのまま残ります。',
    open: '接続を解除',
    title: (name) => `${name} の接続を解除しますか？`,
    confirm: '接続を解除',
    confirming: '解除しています…',
    done: (name) => `${name} の接続を解除しました`,
  },

  failures: {
    offline: {
      title: 'オフラインです',
      text: 'インターネット接続をご確認ください。接続が回復すると、自動的に続行します。',
    },
    unreachable: {
      title: '応答がありません',
      text: '時間内に応答がありませんでした。接続を確認して、もう一度お試しください。',
    },
    access_denied: {
      title: 'アクセスできません',
      text: 'アクセス権が変更された可能性があります。ページを再読み込みするか、この製品のサポートにお問い合わせください。',
    },
    only_view: { title: 'これは表示専用です', text: 'ここでは何も変更できず、リンクも開きません。' },
    not_found: {
      title: '現在は利用できません',
      text: 'お探しのものは見つかりませんでした。前の画面に戻って、選び直してください。',
    },
    conflict: {
      title: '今は実行できません',
      text: 'この間に状態が変わりました。しばらくしてからもう一度お試しください。',
    },
    limit_reached: {
      title: '上限に達しました',
      text: '不要なものを削除するか、この製品のサポートに上限の引き上げを依頼してください。',
    },
    invalid: {
      title: '受け付けられない項目があります',
      text: '印の付いた項目を修正して、もう一度お試しください。',
    },
    rate_limited: { title: 'リクエストが多すぎます', text: '少し待ってから、もう一度お試しください。' },
    unavailable: {
      title: '問題が発生しました',
      text: 'お客様の操作が原因ではありません。数分後にもう一度お試しください。',
    },
  },
  lookAt: (fields) => `入力された内容では動作しませんでした。次の項目を確認してください: ${fields}`,
  reasons: {
    sign_in_lost: 'サインイン情報が失われました。もう一度サインインしてください。',
    platform_not_ready: '設定に通常より時間がかかっています。自動的に続行されます。',
    rejected_by_platform: 'この設定は受け付けられませんでした。内容を確認して、もう一度お試しください。',
    source_lost: 'このデータソースは存在しません。接続を解除してから、もう一度接続してください。',
    connection_lost: 'この接続は存在しません。データソースの接続を解除してから、もう一度接続してください。',
    no_streams: 'このデータソースには同期するデータがありません。',
    chosen_streams_gone: '選択したデータはこのデータソースにありません。もう一度選択してください。',
    check_interrupted: '確認が中断されました。もう一度お試しください。',
    check_not_run: '確認を実行できませんでした。しばらくしてからもう一度お試しください。',
  },
  quotas: {
    reached: (what) => `${what}の上限に達しました。`,
    things: {
      sources: (_count, amount) => `データソース ${amount} 件`,
      connections: (_count, amount) => `接続 ${amount} 件`,
      concurrent_syncs: (_count, amount) => `同時に実行できる同期 ${amount} 件`,
      rows_per_day: (_count, amount) => `1 日あたり ${amount} 行`,
      rows_per_month: (_count, amount) => `1 か月あたり ${amount} 行`,
      bytes_per_day: (_count, amount) => `1 日あたり ${amount} `,
      bytes_per_month: (_count, amount) => `1 か月あたり ${amount} `,
    },
    no_room: '不要なデータソースを削除するか、上限の引き上げを依頼してください。',
    too_many: 'いずれかの同期が終わってから、もう一度お試しください。',
    waits: '別の同期が終わると、この同期は自動的に始まります。',
    goesOn: (time) => `${time} に同期が自動的に再開します。`,
    nextSync: (time) => `この接続の次の同期は ${time} から開始できます。`,
  },
  retryIn: (duration) => `${duration}後にもう一度お試しいただけます。`,

  offlineBanner: 'オフラインです。接続が回復すると、自動的に続行します。',
  stale: '現在、この画面を更新できません。最新の内容ではない可能性があります。',

  expired: {
    title: 'セッションの有効期限が切れました',
    renewing: '更新しています。少々お待ちください。入力した内容は失われません。',
    reload: '続けるには、このページを再読み込みしてください。',
  },
} satisfies Words;
