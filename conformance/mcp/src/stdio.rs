//! Serves on standard input and output: one message a line.

use crate::check::MessageCheck;
use crate::server::ScriptedServer;
use rmcp::serve_server;
use std::io;
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, duplex, split};
use tokio::runtime::Builder;
use tokio::sync::Mutex;
use tokio::time::sleep;

/// How much may be between the SDK and us.
const BETWEEN: usize = 1 << 16;
/// How often it looks whether an answer is under way when the client is gone.
const TICK: Duration = Duration::from_millis(1);

/// Serves on the standard streams of this process until its input ends.
///
/// # Errors
///
/// When they cannot be read or written.
pub fn serve_stdio(server: ScriptedServer) -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let ended = runtime.block_on(serve_lines(server, tokio::io::stdin(), tokio::io::stdout()));
    // A read of standard input cannot be interrupted.
    runtime.shutdown_background();
    ended
}

/// Serves a client over any two streams, until the first one ends.
///
/// # Errors
///
/// When they cannot be read or written.
pub async fn serve_lines<R, W>(server: ScriptedServer, input: R, output: W) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (near, far) = duplex(BETWEEN);
    let (answers, mut asked) = split(near);
    let output = Arc::new(Mutex::new(output));
    let check = Arc::new(StdMutex::new(MessageCheck::default()));
    let sdk = tokio::spawn({
        let server = server.clone();
        async move {
            if let Ok(running) = serve_server(server, split(far)).await {
                let _ = running.waiting().await;
            }
        }
    });
    let back = tokio::spawn({
        let (output, check) = (Arc::clone(&output), Arc::clone(&check));
        async move {
            let mut lines = BufReader::new(answers).lines();
            while let Some(line) = lines.next_line().await? {
                check.lock().unwrap_or_else(PoisonError::into_inner).went(&line);
                write(&output, &line).await?;
            }
            Ok::<_, io::Error>(())
        }
    });
    let mut input = BufReader::new(input);
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line).await? > 0 {
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if !text.is_empty() {
            let checked = check.lock().unwrap_or_else(PoisonError::into_inner).came(text);
            match checked {
                Ok(()) => asked.write_all(format!("{text}\n").as_bytes()).await?,
                Err(broken) => {
                    server.record().broken(&broken.what);
                    write(&output, &broken.answer).await?;
                }
            }
        }
        line.clear();
    }
    // A call that waits for another one, or hangs, gets no answer any more.
    let is_under_way = || check.lock().unwrap_or_else(PoisonError::into_inner).open() > server.record().waiting();
    while is_under_way() && !back.is_finished() {
        sleep(TICK).await;
    }
    asked.shutdown().await?;
    sdk.abort();
    Ok(())
}

async fn write<W: AsyncWrite + Unpin>(output: &Mutex<W>, line: &str) -> io::Result<()> {
    let mut output = output.lock().await;
    output.write_all(format!("{line}\n").as_bytes()).await?;
    output.flush().await
}
