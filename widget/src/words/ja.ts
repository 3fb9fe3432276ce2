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
    showAll: '検索をクリア',
    connected: (_count, number) => `${number} 件接続済み`,
    yourSources: (_count, number) => `接続済みのデータソース（${number}）`,
  },

  empty: {
    title: '利用できるデータソースはまだありません',
    text: '接続できるデータソースがここに表示されます。',
  },

  connect: {
    title: (template) => `${template} を接続`,
    guide: '設定ガイド',
    submit: 'テストして接続',
  },

  name: {
    label: '名前',
    hint: 'データソースの一覧に表示されます。',
    missing: '名前を入力してください。',
    unusable: '255 文字以内で入力してください。制御文字は使用できません。',
  },

  steps: {
    label: '進行状況',
    checking: '接続をテストしています…',
    checked: '接続テスト完了',
    connect: '接続',
    connecting: '接続しています…',
    connected: '接続しました',
    save: '保存',
    saving: '保存しています…',
    firstSync: '初回の同期',
    done: '完了',
    failed: '失敗',
    patience: '通常 1～2 分かかります。',
  },

  problemOnOurSide: 'こちら側で問題が発生しました。現在対応中ですので、操作は必要ありません。',
  signInEnded: 'サインインが無効です。もう一度サインインしてください。',

  check: {
    warnings: 'テストは成功しましたが、警告があります',
    oneRecord: (stream) =>
      `${stream}: API がリストではなく単一のオブジェクトを返すため、1 行のみ同期されます。複数の行があるはずの場合は、パスを確認してください。`,
    oneRecordOfList: (stream, path) =>
      `${stream}: API がリストではなく単一のオブジェクトを返すため、1 行のみ同期されます。リストは「${path}」にあると思われます。これをレコードのパスとして入力してください。`,
    failed: '接続テストに失敗しました',
    noReason: 'データソースから理由が返されませんでした。',
    next: '入力内容を確認して、もう一度お試しください。',
    cancelled: 'テストをキャンセルしました。何も保存されていません。',
    unconfirmed: '接続を確認できませんでした',
    unconfirmedText:
      '応答を受信できませんでした。重複して接続しないよう、再試行する前に接続済みのデータソースを確認してください。',
  },

  discard: {
    title: '変更を破棄しますか？',
    text: '変更は保存されていません。',
    confirm: '破棄',
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
    unknown: '状態を確認できません',
    leave: 'このページを閉じてもかまいません。同期はバックグラウンドで続行されます。',
    nothingSynced: '設定は完了しました。このデータソースのデータはまだ同期されていません。',
    done: '完了',
    another: '別のデータソースを接続',
    openSettings: '設定を確認',
  },

  list: {
    title: '接続済みのデータソース',
    add: 'データソースを追加',
    lastSync: (when) => `前回の同期：${when}`,
    nextSync: (when) => `次回：${when}`,
    notSynced: '未同期',
    statusUnknown: '現在、同期の状態を確認できません。データソースに影響はありません。',
  },

  states: {
    pending: '設定中',
    failed: '対応が必要',
    syncing: '同期中',
    sync_failed: '同期に失敗',
    paused: '一時停止中',
    ready: '接続済み',
  },

  source: {
    parts: 'データソースの詳細',
    activity: 'アクティビティ',
    settings: '設定',
    failed: 'このデータソースには対応が必要です',
    failedWithoutReason: '設定に失敗しました。内容を確認して、もう一度保存してください。',
    reviewSettings: '設定を確認',
    pending: 'このデータソースを設定しています。このページを閉じてもかまいません。',
    nothingSynced: 'このデータソースは接続済みです。データはまだ同期されていません。',
    syncTo: (destination) => `${destination} への同期`,
    syncNow: '今すぐ同期',
    syncing: '同期中…',
    syncStarted: '同期を開始しました',
    cancelSync: '同期をキャンセル',
    syncCancelled: '同期をキャンセルしました',
    failingFor: (duration) => `失敗が続いています（${duration}）`,
    tryingAgain: (failing) => `${failing}・再試行中`,
    failing: '同期に失敗しています',
    paused: 'アカウントが再び有効になるまで、同期は一時停止されます。',
    pausedByTeam: '同期は一時停止中です。',
    notReady: '接続が変更されたため、同期を開始できませんでした。しばらくしてからもう一度お試しください。',
    history: '履歴',
    changes: {
      title: (_count, number) => `同期中に ${number} 件の値が変更されました`,
      skipped: (_count, number) => `20 MB を超える ${number} 行をスキップしました`,
      notReplaced: 'すべての行が読み取られたことを確認できないため、以前の行を残しています。',
      nulled: (_count, number, field) => `${field}: ${number} 件の値を保存できませんでした`,
      shortened: (_count, number, field) => `${field}: ${number} 件の値を短縮しました`,
      not_a_number: (_count, number, field) => `${field}: 数値ではない ${number} 件の値を空にしました`,
      left_out: (_count, number, field) => `${field}: 同期先に列がないため ${number} 件の値をスキップしました`,
      more: (_count, number) => `ほか ${number} 個のフィールド`,
    },
    quietRuns: (_count, number) => `新しいデータのない同期 ${number} 回`,
    noHistory: '同期の履歴はまだありません。',
    showMore: 'さらに表示',
    save: 'テストして保存',
    rename: '名前を保存',
    saved: '変更を保存しました',
    notOffered: '現在、この設定は変更できません。名前の変更と接続の解除は可能です。',
    goneTitle: 'このデータソースは存在しません',
    goneText: '別のウィンドウで接続が解除された可能性があります。',
  },

  choice: {
    open: 'データとスケジュール',
    often: '同期の頻度',
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
    byHand: '手動',
    asNow: '現在のスケジュールを維持',
    streams: '同期するデータ',
    save: '保存',
    soon: '新しい設定はまもなく反映されます。',
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
    heading: 'データソースの接続を解除',
    text: '同期が停止し、保存された認証情報は削除されます。同期済みのデータは残ります。',
    open: '接続を解除',
    title: (name) => `${name} の接続を解除しますか？`,
    confirm: '接続を解除',
    confirming: '解除しています…',
    done: (name) => `${name} の接続を解除しました`,
  },

  failures: {
    offline: {
      title: 'オフラインです',
      text: 'インターネット接続を確認してください。接続が回復すると自動的に再開します。',
    },
    unreachable: {
      title: '応答がありません',
      text: 'リクエストがタイムアウトしました。接続を確認して、もう一度お試しください。',
    },
    access_denied: {
      title: 'アクセスできません',
      text: 'アクセス権が変更された可能性があります。ページを再読み込みするか、サポートにお問い合わせください。',
    },
    only_view: { title: '表示専用', text: 'ここでは変更できません。リンクも開けません。' },
    not_found: {
      title: '現在は利用できません',
      text: '選択した項目は存在しません。前の画面に戻って選び直してください。',
    },
    conflict: {
      title: '実行できませんでした',
      text: '操作中に状態が変わりました。しばらくしてからもう一度お試しください。',
    },
    limit_reached: {
      title: '上限に達しました',
      text: '不要なものを削除するか、サポートに上限の引き上げを依頼してください。',
    },
    invalid: {
      title: '入力内容に誤りがあります',
      text: '印の付いた項目を修正して、もう一度お試しください。',
    },
    rate_limited: { title: 'リクエストが多すぎます', text: 'しばらく待ってから、もう一度お試しください。' },
    unavailable: {
      title: '問題が発生しました',
      text: 'こちら側の問題です。数分後にもう一度お試しください。',
    },
  },
  checkFields: (fields) => `問題が発生しました。次の項目を確認してください: ${fields}`,
  reasons: {
    sign_in_lost: 'サインイン情報が失われました。もう一度サインインしてください。',
    not_reported:
      '理由は報告されていません。もう一度お試しください。解決しない場合は、サポートにお問い合わせください。',
    platform_not_ready: '設定に通常より時間がかかっています。自動的に完了します。',
    rejected_by_platform: 'この設定は拒否されました。内容を確認して、もう一度お試しください。',
    source_lost: 'このデータソースは存在しません。接続を解除してから、もう一度接続してください。',
    connection_lost: 'この接続は存在しません。データソースの接続を解除してから、もう一度接続してください。',
    no_streams: 'このデータソースには同期するデータがありません。データを追加して、もう一度お試しください。',
    chosen_streams_gone: '選択したデータはこのデータソースに存在しません。別のデータを選択してください。',
    check_interrupted: 'テストが中断されました。もう一度お試しください。',
    check_not_run: 'テストを実行できませんでした。しばらくしてからもう一度お試しください。',
  },
  quotas: {
    reached: (what, next) => `${what}の上限に達しました。${next}`,
    things: {
      sources: (_count, amount) => `データソース ${amount} 件`,
      connections: (_count, amount) => `接続 ${amount} 件`,
      concurrent_syncs: (_count, amount) => `同時同期 ${amount} 件`,
      rows_per_day: (_count, amount) => `1 日あたり ${amount} 行`,
      rows_per_month: (_count, amount) => `1 か月あたり ${amount} 行`,
      bytes_per_day: (_count, amount) => `1 日あたり ${amount} `,
      bytes_per_month: (_count, amount) => `1 か月あたり ${amount} `,
    },
    no_room: '不要なデータソースの接続を解除するか、サポートに上限の引き上げを依頼してください。',
    too_many: 'いずれかの同期が完了してから、もう一度お試しください。',
    waits: 'この同期は、別の同期が完了すると開始されます。',
    resumes: (time) => `同期は ${time} に再開されます。`,
    nextSync: (time) => `この接続の次の同期は ${time} から開始できます。`,
  },
  retryIn: (duration) => `${duration}後にもう一度お試しください。`,

  offlineBanner: 'オフラインです。接続が回復すると自動的に再開します。',
  stale: 'ページを更新できませんでした。最新の情報ではない可能性があります。',

  expired: {
    title: 'セッションの有効期限が切れました',
    renewing: 'セッションを更新しています。入力内容は失われません。',
    reload: 'ページを再読み込みするか、アプリから開き直してください。',
  },
} satisfies Words;
